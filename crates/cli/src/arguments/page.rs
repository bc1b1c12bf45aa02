//! `selfprof page`, and what all commands that host pages take.

use std::path::PathBuf;

use clap::Args;

use super::{SourceMapArguments, parse_interval};

/// Load a page without a browser: run its scripts, print what it says, and profile its load
///
/// The page gets a DOM (jsdom), the network and its own thread, but no layout and no painting. What it writes by
/// console.log goes to stdout; its warnings, errors and what is missing go to stderr. It can use `Profiler` itself where its
/// Document-Policy allows that; to profile its load, no permission is needed. The trace shows what a profiler of the page's
/// own would show: its functions, but not those of frames in it, nor of scripts of other origins that are loaded without CORS.
#[derive(Debug, Args)]
#[command(after_help = PAGE_EXAMPLES)]
pub struct PageArguments {
    /// Profile the page from before its first script until it has loaded (see --wait), and show where time went
    #[arg(long)]
    pub profile_load: bool,

    /// Write the trace here, and so profile the load; `.gz` at the end compresses it [default: NAME.selfprof.json]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Take a sample each MS milliseconds, rounded up to whole ones
    #[arg(short, long, value_name = "MS", default_value = "1", value_parser = parse_interval)]
    pub interval: f64,

    /// Stop profiling after N samples [default: 1000000]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub buffer: Option<u32>,

    /// What to wait for: `load`; `idle`, when for half a second nothing is on its way and little is done; or MS
    /// milliseconds after `load`
    #[arg(long, value_name = "load|idle|MS", default_value = "load", value_parser = parse_wait)]
    pub wait: Wait,

    /// Give up after MS milliseconds
    #[arg(long, value_name = "MS", default_value = "30000")]
    pub timeout: u64,

    /// Show the N functions with the most self time; 0 shows none
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// For a page on disk, the folder that it may load from [default: the page's own]
    #[arg(long, value_name = "FOLDER")]
    pub root: Option<PathBuf>,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    #[command(flatten)]
    pub host: HostArguments,

    /// The page: a URL (http, https, file, data), or a file
    #[arg(value_name = "URL|FILE")]
    pub page: String,
}

const PAGE_EXAMPLES: &str = "\
Examples:
  selfprof page https://example.com/                   What does it log, what is missing?
  selfprof page --profile-load dist/index.html         Where does its load spend its time?
  selfprof page -o load.json.gz --wait idle http://localhost:8000/
  selfprof top load.json.gz                            Show the table again

Pages need Node 22.22.2, 24.15 or 26, and jsdom: `npm install jsdom@31.0.1` in the working directory.";

/// What a page is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Load,
    Idle,
    /// After `load`, in milliseconds.
    Time(u64),
}

impl Wait {
    /// The event that the host waits for.
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
        _ => Err("it is `load`, `idle`, or a number of milliseconds".to_owned()),
    }
}

/// What pages are hosted with.
#[derive(Debug, Args)]
pub struct HostArguments {
    /// Where jsdom is [default: as `require('jsdom')` finds it from the working directory]
    #[arg(long, value_name = "PATH", env = "SELFPROF_JSDOM", hide_env_values = true)]
    pub jsdom: Option<PathBuf>,

    /// Use this Node instead of the one on PATH
    #[arg(long, value_name = "PATH", env = "SELFPROF_NODE", hide_env_values = true)]
    pub node: Option<PathBuf>,

    /// Speak https with whoever answers
    #[arg(long)]
    pub ignore_certificate_errors: bool,
}
