//! Arguments of `selfprof run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGUSR1, SIGUSR2};

use super::recording_arguments::{RecordingArguments, SamplingArguments};
use super::values::seconds;

/// Run a program and profile all its Node.js processes from start to exit
///
/// The program runs as it would without selfprof, with the same stdin, stdout and exit code. When it has ended, even by
/// an error or a signal, selfprof writes the trace to a file and prints a table of its functions to stderr.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    #[command(flatten)]
    pub sampling: SamplingArguments,

    /// Write the trace to FILE; a name ending in `.gz` compresses it
    /// [default: NAME.selfprof.json, after the script or program]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Record only the first process, and not the Node.js processes that it starts
    #[arg(long)]
    pub no_children: bool,

    /// Start recording SECONDS after the program has started
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "toggle")]
    pub delay: Option<Duration>,

    /// Stop recording after SECONDS and write the trace; the program continues
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,

    /// Start recording when selfprof receives SIGNAL, stop at the next one, and so on. With --last, record from the
    /// start, and write the trace when SIGNAL arrives
    #[arg(long, value_name = "SIGNAL", value_enum, ignore_case = true)]
    pub toggle: Option<ToggleSignal>,

    #[command(flatten)]
    pub recording: RecordingArguments,

    /// Use this Node.js executable instead of the one on PATH
    #[arg(long, value_name = "PATH", env = "SELFPROF_NODE", hide_env_values = true)]
    pub node: Option<PathBuf>,

    /// What to run, and its arguments. Options after COMMAND are passed to it
    ///
    /// COMMAND is one of:
    ///   a script, as for `node`
    ///   `node` or the path of a Node.js executable, with options of Node.js, a script and its arguments
    ///   a program in node_modules/.bin of this directory or a parent, or else on PATH, such as `npm`
    ///   `--`, followed by options of Node.js, a script and its arguments
    #[arg(value_names = ["COMMAND", "ARGS"], num_args = 1.., required = true, trailing_var_arg = true, verbatim_doc_comment)]
    pub command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  selfprof run npm run build            Profile a script of package.json, with all processes that it starts
  selfprof run eslint .                 Profile a program that is installed in this project
  selfprof run build.js --watch=no      `--watch=no` is an argument of build.js
  selfprof run node --import tsx a.mts  Pass options to Node.js; or: selfprof run -- --import tsx a.mts
  selfprof run -i 10 -o t.json app.mjs  Sample every 10 ms and write t.json
  selfprof run --top 0 test.js          Only write the trace
  selfprof run --marks server.js        Also list the performance.measure() entries
  selfprof run --node ~/node-24/bin/node app.js

Worker threads and the Node.js processes that the program starts are recorded, too. One file holds them all: a W3C trace of the
main thread, and the others in its member `threads`. `selfprof top --by process FILE` shows where the time went.";

/// A signal that means nothing to selfprof otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToggleSignal {
    #[value(name = "SIGUSR1", alias = "USR1")]
    Usr1,
    #[value(name = "SIGUSR2", alias = "USR2")]
    Usr2,
}

impl ToggleSignal {
    /// Its name, e.g. `SIGUSR2`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usr1 => "SIGUSR1",
            Self::Usr2 => "SIGUSR2",
        }
    }

    /// Its number on this system.
    pub fn number(self) -> i32 {
        match self {
            Self::Usr1 => SIGUSR1,
            Self::Usr2 => SIGUSR2,
        }
    }
}
