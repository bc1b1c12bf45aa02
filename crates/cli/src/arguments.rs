//! What can be typed.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Profiles JavaScript programs through the W3C JS Self-Profiling API.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  selfprof run build.js                 Run a script, then show where its time went
  selfprof run -o out.json.gz app.mjs   Choose where the trace goes
  selfprof top out.json.gz              Show the table of a trace again
  selfprof page -o load.json app.html   Load a page without a browser, and profile its load
  selfprof webdriver --port 4444        Have Selenium and others drive such pages

`selfprof COMMAND --help` tells more.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArguments),
    Top(TopArguments),
    Page(PageArguments),
    Webdriver(WebDriverArguments),
}

/// Run a script in Node.js and record it from its first line to its end
///
/// The script runs as `node SCRIPT ARGS...` would: same stdin and stdout, same exit code. When it has ended,
/// however it ended, the trace is written and a table of its functions goes to stderr.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArguments {
    /// Take a sample each MS milliseconds, rounded up to whole ones
    #[arg(short, long, value_name = "MS", default_value = "1", value_parser = parse_interval)]
    pub interval: f64,

    /// Stop recording a thread after N samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub buffer: Option<u32>,

    /// Record the marks and measures that the script makes with `performance`, too
    #[arg(long)]
    pub marks: bool,

    /// Write the trace here; `.gz` at the end compresses it [default: NAME-OF-SCRIPT.selfprof.json]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// When V8 takes note of functions
    #[arg(long, value_enum, default_value_t)]
    pub mode: ModeArgument,

    /// Show the N functions with the most self time, and as many measures; 0 shows none
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// How functions of Node's own scripts appear
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub node_frames: NodeFrames,

    /// Use this Node instead of the one on PATH
    #[arg(long, value_name = "PATH", env = "SELFPROF_NODE", hide_env_values = true)]
    pub node: Option<PathBuf>,

    /// The script, and its own arguments: all that follows is the script's, flags too
    #[arg(value_names = ["SCRIPT", "ARGS"], num_args = 1.., required = true, trailing_var_arg = true)]
    pub script: Vec<OsString>,
}

const RUN_EXAMPLES: &str = "\
Examples:
  selfprof run build.js --watch=no      `--watch=no` is build.js's own
  selfprof run -i 10 -o t.json app.mjs  A tenth of the samples, into t.json
  selfprof run --top 0 test.js          Only write the trace
  selfprof run --marks server.js        Tell what performance.measure() measured
  selfprof run --node ~/node-24/bin/node app.js

Worker threads are recorded too: with `-o t.json`, worker 3 gets t.worker-3.json.";

/// The Document-Policy value `js-profiling-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ModeArgument {
    /// As they are compiled, which costs a little all along
    #[default]
    Eager,
    /// When the recording starts, which costs less later and misses loops that run already
    Lazy,
}

impl ModeArgument {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Eager => "eager",
            Self::Lazy => "lazy",
        }
    }
}

/// What becomes of frames in `node:` scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NodeFrames {
    /// Like built-in functions, as a name alone, and only where the script calls them
    #[default]
    Fold,
    /// Like the script's own, each with its place
    Full,
}

impl NodeFrames {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fold => "fold",
            Self::Full => "full",
        }
    }
}

/// Show the functions of a trace, those with the most self time first
///
/// The table goes to stdout, with another one of the measures that the trace holds. What is wrong with the trace goes to stderr.
#[derive(Debug, Args)]
#[command(after_help = TOP_EXAMPLES)]
pub struct TopArguments {
    /// A trace in the W3C shape, perhaps compressed with gzip; `-` reads stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Show N functions, and as many measures
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// Write JSON instead of a table, with times in milliseconds
    #[arg(long)]
    pub json: bool,
}

const TOP_EXAMPLES: &str = "\
Examples:
  selfprof top build.selfprof.json
  selfprof top --top 100 trace.json.gz
  curl -s https://example.com/trace.json | selfprof top --json - | jq '.functions[0].name'";

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

Pages need Node 22.22.2, 24.15 or 26, and jsdom: `npm install jsdom@31` in the working directory.";

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

/// Serve WebDriver, so that Selenium and others can drive pages without a browser, and force samples
///
/// Each session has pages in a process of its own. Beside WebDriver's own commands there is the one of the JS Self-Profiling
/// draft, `POST /session/{session id}/forcesample`: each started profiler of the current window or frame takes one sample
/// now. Tests of profiles need not sleep with it.
///
/// It listens until SIGINT or SIGTERM. The first line on stdout says where.
#[derive(Debug, Args)]
#[command(after_help = WEBDRIVER_EXAMPLES)]
pub struct WebDriverArguments {
    /// Listen on this port; 0 takes any that is free
    #[arg(short, long, value_name = "PORT", default_value = "4444")]
    pub port: u16,

    /// Listen on this address. Whoever can reach it can load pages from this machine
    #[arg(long = "host", value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub address: IpAddr,

    /// A name that clients may call this machine by, beside its addresses and localhost; may be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,

    /// An origin whose pages may send commands from a browser, e.g. http://localhost:8080; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origins: Vec<String>,

    /// Tell requests, answers and what happens in pages on stderr
    #[arg(long)]
    pub log: bool,

    #[command(flatten)]
    pub host: HostArguments,
}

const WEBDRIVER_EXAMPLES: &str = "\
Examples:
  selfprof webdriver
  selfprof webdriver --port 0 --log
  curl -d '{\"capabilities\":{}}' -H content-type:application/json http://127.0.0.1:4444/session

In Python, with Selenium:
  options = selenium.webdriver.common.options.ArgOptions()
  options.set_capability('browserName', 'selfprof')
  driver = selenium.webdriver.Remote('http://127.0.0.1:4444', options=options)
  driver.command_executor.add_command('forceSample', 'POST', '/session/$sessionId/forcesample')
  driver.execute('forceSample')

A forced sample is taken between the page's tasks, as every command: its stack is empty. It is one sample all the same, so
a test can count on its number and its time. Pages have no layout: screenshots, sizes and pointer actions are answered by
`unsupported operation`, and clicks go to the element itself.

Pages need Node 22.22.2, 24.15 or 26, and jsdom: `npm install jsdom@31` in the working directory.";

fn parse_interval(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(interval) if interval > 0.0 && f64::is_finite(interval) => Ok(interval),
        _ => Err("an interval is a number of milliseconds above 0, e.g. 10".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn all_behind_the_script_is_the_scripts() {
        #[track_caller]
        fn check(line: &str, interval: f64, expected: &str) {
            let words = line.split(' ');
            let Command::Run(run) =
                Arguments::parse_from(["selfprof", "run"].into_iter().chain(words)).command
            else {
                panic!("not a run");
            };
            let script: Vec<_> = run.script.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!((run.interval, script.join(" ").as_str()), (interval, expected));
        }
        check("a.js", 1.0, "a.js");
        check("-i 2.5 a.js", 2.5, "a.js");
        check("a.js -i 5", 1.0, "a.js -i 5");
        check("-i 2 a.js --top 3 -- -o --help", 2.0, "a.js --top 3 -- -o --help");
        check("-- a.js --version", 1.0, "a.js --version");
    }
}
