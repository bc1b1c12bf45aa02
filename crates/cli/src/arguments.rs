//! What can be typed.

mod page;
mod webdriver;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use selfprof_formats::{Format, UnknownFormat};

pub use page::{HostArguments, PageArguments, Wait};
pub use webdriver::WebDriverArguments;

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
  selfprof diff before.json after.json  Show what takes more of the time than before
  selfprof report out.json.gz           Make a page of it: timeline, flame graphs, table
  selfprof convert out.json.gz -o out.cpuprofile
                                        Write it as DevTools, speedscope and others have it
  selfprof page -o load.json app.html   Load a page without a browser, and profile its load
  selfprof webdriver --port 4444        Have Selenium and others drive such pages

`selfprof COMMAND --help` tells more.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArguments),
    Top(TopArguments),
    Diff(DiffArguments),
    Report(ReportArguments),
    Convert(ConvertArguments),
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

    /// Make a page of the trace, as `selfprof report` does, and open it in the browser
    #[arg(long)]
    pub report: bool,

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
    /// A trace in the W3C shape, a `.cpuprofile` or a profile of the explainer, perhaps compressed with gzip; `-` reads stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Take the file for this format, whatever it looks like
    #[arg(long, value_name = "FORMAT", value_parser = formats(&Format::READABLE))]
    pub from: Option<Format>,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    /// What to sum up by
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub by: By,

    /// Show N rows, and as many measures
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// Write JSON instead of a table, with times in milliseconds
    #[arg(long)]
    pub json: bool,
}

/// Where source maps are looked for.
#[derive(Debug, Default, Args)]
pub struct SourceMapArguments {
    /// Look for source maps in DIR and below, too: by name, or by debug id. Otherwise a map is what a script on this
    /// machine leads to by `sourceMappingURL`, inline or beside it
    #[arg(long = "source-maps", value_name = "DIR")]
    pub directories: Vec<PathBuf>,

    /// Show the places and names of generated code as they are
    #[arg(long, conflicts_with = "directories")]
    pub no_source_maps: bool,
}

/// What the rows of the table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Functions
    #[default]
    Function,
    /// Scripts; the host's functions together are one
    Resource,
    /// Kinds of work: script, gc, style, layout, paint ...
    Marker,
}

const TOP_EXAMPLES: &str = "\
Examples:
  selfprof top build.selfprof.json
  selfprof top --top 100 trace.json.gz
  selfprof top --by resource CPU.20261121.cpuprofile
  curl -s https://example.com/trace.json | selfprof top --json - | jq '.functions[0].name'";

/// Make a page of traces that shows where their time went
///
/// The page is one HTML file that needs nothing else: a timeline with lanes for kinds of work, marks and measures,
/// flame graphs in the order of time and by what took longest, the callers and callees of a function, a table that
/// can be searched. Of several traces, the first two are compared.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArguments {
    /// Traces, perhaps compressed with gzip; `-` reads stdin
    #[arg(value_name = "FILE", required = true, num_args = 1..)]
    pub files: Vec<PathBuf>,

    /// Write the page here; `-` writes to stdout [default: NAME-OF-TRACE.html beside the first trace]
    #[arg(short, long, value_name = "FILE", conflicts_with = "serve")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    /// Open the page in the browser
    #[arg(long, conflicts_with = "serve")]
    pub open: bool,

    /// Serve the page on 127.0.0.1 instead of writing it, made anew each time it is loaded
    #[arg(long)]
    pub serve: bool,

    /// Serve on this port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value = "0", requires = "serve")]
    pub port: u16,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  selfprof report build.selfprof.json             Writes build.selfprof.html
  selfprof report --open trace.json.gz            And opens it
  selfprof report before.json after.json -o diff.html
  selfprof report --serve trace.json              Look at it while the trace is written anew";

/// Show which functions take more or less of the time in one trace than in another
///
/// What compares is a function's share of the samples at which anything ran, so the traces may be of different lengths. Functions
/// are the same when their names and places are, or when they are the only ones of their name in a script whose code has moved.
///
/// Shares are estimates from samples. A change is shown when it is more than chance: by a two-proportion z-test that takes
/// samples of one long call for one event, adjusted by Holm's method for the number of functions, at a level of 5 %. So if
/// nothing changed, 19 comparisons of 20 show nothing at all. What no such test knows is how runs differ for other reasons, such as
/// other input or a busy machine: compare two runs of the same program first.
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub struct DiffArguments {
    /// The trace before, in any format that `top` reads; `-` reads stdin
    #[arg(value_name = "BASE")]
    pub base: PathBuf,

    /// The trace after
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    /// Show N functions
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// Show changes that may be chance, too
    #[arg(long)]
    pub all: bool,

    /// Write JSON instead of a table, with all functions and their probabilities
    #[arg(long)]
    pub json: bool,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  selfprof diff before.json.gz after.json.gz
  selfprof diff --json main.json branch.json | jq '.functions[] | select(.significant and .change > 0)'";

/// Write a profile in another format
///
/// Both formats are recognised: that of IN by what is in it, that of OUT by its name. What the new format has no place for is
/// told on stderr, as is what is wrong with IN.
#[derive(Debug, Args)]
#[command(after_help = CONVERT_HELP)]
pub struct ConvertArguments {
    /// The profile, perhaps compressed with gzip; `-` reads stdin
    #[arg(value_name = "IN")]
    pub input: PathBuf,

    /// The file to write; `.gz` at the end compresses it, `-` is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,

    /// Take IN for this format, whatever it looks like
    #[arg(long, value_name = "FORMAT", value_parser = formats(&Format::READABLE))]
    pub from: Option<Format>,

    /// Write this format, whatever OUT is called
    #[arg(long, value_name = "FORMAT", value_parser = formats(&Format::ALL))]
    pub to: Option<Format>,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,
}

const CONVERT_HELP: &str = "\
Formats that are read and written:
  w3c         .json              What a Profiler gives, in browsers and here
  cpuprofile  .cpuprofile        V8's, for Chrome DevTools and VS Code
  explainer   .explainer.json    What performance.startProfiling() gives

Formats that are written:
  firefox     .firefox.json      For profiler.firefox.com, with marks and measures
  chrome      .trace.json        Trace events, for the Performance panel of Chrome DevTools
  speedscope  .speedscope.json   For speedscope.app
  pprof       .pb.gz             For `go tool pprof` and continuous profilers
  collapsed   .collapsed         Lines for flame graphs, in microseconds
  otlp        .otlp              OpenTelemetry's profiles (v1development of OTLP 1.10), in binary

All of them show the self and total times that `selfprof top` shows.

Examples:
  selfprof convert app.selfprof.json -o app.cpuprofile
  selfprof convert CPU.20261121.cpuprofile -o cpu.speedscope.json
  selfprof convert trace.json.gz -o trace.pb.gz && go tool pprof -top trace.pb.gz
  curl -s https://example.com/trace.json | selfprof convert - -o - --to collapsed | flamegraph.pl > flame.svg";

fn formats(formats: &[Format]) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(formats.iter().map(|format| format.as_str()))
        .try_map(|text| -> Result<Format, UnknownFormat> { text.parse() })
}

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
