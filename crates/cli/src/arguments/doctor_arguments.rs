//! Arguments of `selfprof doctor`.

use clap::Args;

/// Say why a page cannot be profiled in browsers, and whose functions a profile hides
///
/// Fetches the page and the scripts that its HTML names, without running them. Exits with 1 if browsers do not allow a Profiler in the page.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArguments {
    /// The page: its URL
    #[arg(value_name = "URL")]
    pub url: String,
}

const EXAMPLES: &str = "\
Examples:
  selfprof doctor https://shop.example/     Look at a page in production
  selfprof doctor http://localhost:5173/    Look at a page on this machine";
