//! Arguments that `selfprof run` and `selfprof attach` have in common.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::node_frames::NodeFramesArgument;
use super::values::{interval, seconds};

/// What is recorded.
#[derive(Debug, Args)]
pub struct SamplingArguments {
    /// Sample interval in milliseconds, a whole number
    #[arg(short, long, value_name = "MS", default_value = "1", value_parser = interval)]
    pub interval: f64,

    /// Stop recording a thread after N samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub buffer: Option<u32>,

    /// Also record performance.mark() and performance.measure()
    #[arg(long)]
    pub marks: bool,
}

/// How it is recorded and shown.
#[derive(Debug, Args)]
pub struct RecordingArguments {
    /// Keep only the last SECONDS before the end of the recording
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub last: Option<Duration>,

    /// When V8 records the names and locations of functions
    #[arg(long, value_enum, default_value_t)]
    pub mode: ModeArgument,

    /// Print at most N functions and N measures, or none if N is 0
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// Also write an HTML report, as `selfprof report` does, and open it in the browser
    #[arg(long)]
    pub report: bool,

    #[command(flatten)]
    pub node_frames: NodeFramesArgument,
}

/// The Document-Policy value `js-profiling-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ModeArgument {
    /// When a function is compiled: a small cost throughout the run
    #[default]
    Eager,
    /// When recording starts: cheaper afterwards, but misses loops that are already running
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
