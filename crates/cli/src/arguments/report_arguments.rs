//! Arguments of `selfprof report`.

use std::path::PathBuf;

use clap::Args;

use super::label_arguments::LabelArguments;
use super::source_maps::SourceMapArguments;

/// Write an HTML report of one or more traces
///
/// The report is a single HTML file that loads nothing else. It has a timeline with the kinds of work, marks and
/// measures, flame graphs (chronological, left-heavy and inverted), the callers and callees of each function, and
/// searchable tables of functions and packages. It shows all processes and threads of a file on one time axis, together
/// or one at a time. Given several files, it compares the first two.
///
/// FILE may be the URL of a profile in a `selfprof-collector` (http://HOST/api/v1/profiles/ID?app=APP), or of the sum
/// of all profiles that a filter selects (http://HOST/?app=APP&release=1.4, as in the address of the collector's page).
/// SELFPROF_COLLECTOR_TOKEN is the token, if the collector needs one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// Traces, in any format that `top` reads; `-` reads stdin; or URLs of files or of a collector
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub files: Vec<PathBuf>,

    /// Show the threads of all files side by side instead of comparing files. Files have no common time axis, so each
    /// one begins at 0
    #[arg(long)]
    pub together: bool,

    /// Write the report to FILE; `-` writes to stdout [default: TRACE-NAME.html beside the first trace]
    #[arg(short, long, value_name = "FILE", conflicts_with = "serve")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub labels: LabelArguments,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    /// Open the report in the browser
    #[arg(long, conflicts_with = "serve")]
    pub open: bool,

    /// Serve the report on 127.0.0.1 instead of writing it, and read the traces again on each reload
    #[arg(long)]
    pub serve: bool,

    /// Port for --serve; 0 picks a free one
    #[arg(long, value_name = "PORT", default_value = "0", requires = "serve")]
    pub port: u16,
}

const EXAMPLES: &str = "\
Examples:
  selfprof report build.selfprof.json             Write build.selfprof.html
  selfprof report --open trace.json.gz            Write trace.html and open it
  selfprof report before.json after.json -o diff.html
  selfprof report --together server.json client.json
  selfprof report 'http://127.0.0.1:4319/?app=shop&page=/cart' -o cart.html
  selfprof report --serve trace.json              Reload the page after each new recording";
