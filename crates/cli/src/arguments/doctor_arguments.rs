//! Arguments of `selfprof doctor`.

use clap::Args;

/// Report why browsers cannot profile a page, and which scripts' functions a profile hides
///
/// Fetches the page and the scripts that its HTML names, without running them. Exits with 1 if browsers do not allow a
/// Profiler in the page.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArguments {
    /// The URL of the page
    #[arg(value_name = "URL")]
    pub url: String,
}

const EXAMPLES: &str = "\
Examples:
  selfprof doctor https://shop.example/     Check a page in production
  selfprof doctor http://localhost:5173/    Check a page on this machine";
