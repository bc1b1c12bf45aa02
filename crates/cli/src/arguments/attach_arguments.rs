//! Arguments of `selfprof attach`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::recording_arguments::{RecordingArguments, SamplingArguments};
use super::values::{process_id, seconds};

/// Profile a running Node.js process, without any preparation
///
/// Records the process until --duration is over, Ctrl-C is pressed, or the process ends. Then selfprof writes the trace
/// to a file and prints a table of its functions to stderr, as `selfprof run` does. The process then continues as
/// before.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AttachArguments {
    #[command(flatten)]
    pub sampling: SamplingArguments,

    /// Write the trace to FILE; a name ending in `.gz` compresses it [default: NAME.selfprof.json, after the script]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Do not record the Node.js processes that the process starts from now on
    #[arg(long)]
    pub no_children: bool,

    /// Stop recording after SECONDS
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,

    #[command(flatten)]
    pub recording: RecordingArguments,

    /// The id of the process; `pgrep -a node` lists the Node.js processes of this machine
    #[arg(value_name = "PID", value_parser = process_id)]
    pub pid: u32,
}

const EXAMPLES: &str = "\
Examples:
  selfprof attach 1234                          Record until Ctrl-C
  selfprof attach --duration 10 1234            Record for 10 seconds
  selfprof attach --last 30 1234                Press Ctrl-C after the program was slow: keeps the last 30 seconds
  selfprof attach -i 10 -o t.json.gz 1234       Sample every 10 ms and write t.json.gz
  selfprof attach $(pgrep -f server.js)

How it works: selfprof sends the process SIGUSR1, which opens Node.js's inspector on the loopback interface, begins the
recording, and closes the inspector within a fraction of a second. (Until then, other users of this machine could connect to it,
too.) Node.js prints `Debugger listening on ...` and `Debugger attached.` to the stderr of the process. If the inspector is open
already, it stays open.

What is recorded: the main thread, all workers, and the Node.js processes that start from now on. Child processes that are
already running are not recorded; attach to each of them. Workers that are blocked in native code are not recorded, nor are
later workers whose options or environment Node.js cannot repeat, if the program has destructured `Worker`: e.g. with
`env: SHARE_ENV`, or in a process with `--conditions`. selfprof lists both. On Node.js 20 to 24, functions that V8 had already
inlined into optimised code do not appear: their time counts as their caller's.

What cannot be attached to: processes of other users or in other containers, processes with Node.js's permission model or
--disable-sigusr1, those that handle SIGUSR1 themselves (their handler is called), and those with a debugger attached. Use
`selfprof run` for them. Afterwards, hooks, signal handlers and timers are as before; the addon stays loaded, with three
sleeping threads.";
