//! Arguments of `selfprof instrument`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Copy scripts and pages so that browsers without the JS Self-Profiling API can profile them
///
/// Functions, loops and slow calls get checks, which do nothing until a profiler starts. Beside the copies are
/// `selfprof-polyfill.js`, which defines `Profiler` where a browser has none, and `selfprof-functions.json`, with the
/// names and positions of the functions in the plain files. The copied pages load the polyfill.
///
/// A single folder is copied with everything in it; several inputs are copied under their own names. What cannot be
/// instrumented is copied unchanged, and the summary on stderr says why. Pass plain files: a file that is already
/// instrumented is rejected or, in a folder, copied unchanged.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InstrumentArguments {
    /// Scripts, HTML pages, or folders of a built site
    #[arg(required = true, value_name = "IN")]
    pub inputs: Vec<PathBuf>,

    /// Write the copies to this folder; if it is inside an input folder, it is not copied itself
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Write a source map beside each instrumented script, composed with the script's own map; without this option,
    /// links to source maps are removed, because their columns are no longer right
    #[arg(long)]
    pub source_map: bool,

    /// Instrument only scripts whose paths match, such as `assets/*.js`; may be repeated. A pattern without `/` is
    /// matched against file names, others against paths from the input folder
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,

    /// Leave out scripts whose paths match; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,

    /// What profilers record: the stack at regular intervals, or each entry and exit of functions
    #[arg(long, value_enum, default_value_t = InstrumentMode::Sample)]
    pub mode: InstrumentMode,

    /// With `--mode trace`: trace only functions whose full names match, such as `parse*` or `get total`; may be
    /// repeated. `(anonymous)` stands for functions without a name
    #[arg(long, value_name = "GLOB")]
    pub functions: Vec<String>,

    /// Leave out functions with fewer statements that have no loop, no await and no slow call; 4 by default. Not with
    /// `--mode trace`
    #[arg(long, value_name = "N")]
    pub min_statements: Option<u32>,

    /// Print the summary as JSON to stdout instead
    #[arg(long)]
    pub json: bool,
}

/// What profilers of the instrumented code record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InstrumentMode {
    /// Samples, for `new Profiler({ sampleInterval, maxBufferSize })`
    Sample,
    /// Calls, for `new Profiler({ mode: 'trace', maxBufferSize })`
    Trace,
}

const EXAMPLES: &str = "\
Examples:
  selfprof instrument dist -o dist-profiled
  selfprof instrument dist -o dist/selfprof --exclude 'vendor-*.js' --source-map
  selfprof instrument page.html -o out
  selfprof instrument app.js lib.js -o out --min-statements 0
  selfprof instrument page.html -o out --mode trace --functions 'parse*'";
