//! Arguments of `selfprof page`.

use std::path::PathBuf;

use clap::Args;

use super::page_host::PageHostArguments;
use super::source_maps::SourceMapArguments;
use super::values::interval;

/// Load a web page without a browser: run its scripts, print its console output, profile its load
///
/// The page gets a DOM (jsdom), the network and its own thread, but no layout and no painting. console.log() goes to
/// stdout; warnings, errors and failed requests go to stderr. The page can use `Profiler` itself if its Document-Policy
/// allows that; profiling its load needs no permission. The trace shows what the page's own profiler would show: its
/// functions, but not those of its frames or of cross-origin scripts loaded without CORS.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PageArguments {
    /// Profile the page from before its first script until it has loaded (see --wait), and print its functions
    #[arg(long)]
    pub profile_load: bool,

    /// Write the trace to FILE, which implies --profile-load; a name ending in `.gz` compresses it [default:
    /// NAME.selfprof.json]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Sample interval in milliseconds, a whole number
    #[arg(short, long, value_name = "MS", default_value = "1", value_parser = interval)]
    pub interval: f64,

    /// Stop profiling after N samples [default: 1000000]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub buffer: Option<u32>,

    /// When the page counts as loaded: at the `load` event; when it is `idle` (no pending requests and little work for
    /// half a second); or MS milliseconds after `load`
    #[arg(long, value_name = "load|idle|MS", default_value = "load", value_parser = parse_wait)]
    pub wait: Wait,

    /// Give up after MS milliseconds
    #[arg(long, value_name = "MS", default_value = "30000")]
    pub timeout: u64,

    /// Print at most N functions, or none if N is 0
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// For a local file, the folder that it may load other files from [default: the folder of the page]
    #[arg(long, value_name = "FOLDER")]
    pub root: Option<PathBuf>,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    #[command(flatten)]
    pub host: PageHostArguments,

    /// The page: a URL (http, https, file, data) or a file
    #[arg(value_name = "URL|FILE")]
    pub page: String,
}

const EXAMPLES: &str = "\
Examples:
  selfprof page https://example.com/                   Print what the page logs
  selfprof page --profile-load dist/index.html         Profile the load of a local page
  selfprof page -o load.json.gz --wait idle http://localhost:8000/
  selfprof top load.json.gz                            Print the table again

Pages need Node.js 22 (22.22.2 or newer), 24 (24.15 or newer) or 26, and jsdom:
run `npm install jsdom@31.0.1` in the working directory.";

/// When a page counts as loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Load,
    Idle,
    /// This many milliseconds after `load`.
    Time(u64),
}

impl Wait {
    /// The event that the page host waits for.
    pub fn event(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Load | Self::Time(_) => "load",
        }
    }
}

fn parse_wait(text: &str) -> Result<Wait, String> {
    match (text, text.parse()) {
        ("load", _) => Ok(Wait::Load),
        ("idle", _) => Ok(Wait::Idle),
        (_, Ok(time)) => Ok(Wait::Time(time)),
        _ => Err("expected `load`, `idle`, or a number of milliseconds".to_owned()),
    }
}
