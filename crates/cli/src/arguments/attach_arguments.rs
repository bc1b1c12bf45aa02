//! Arguments of `selfprof attach`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::run_arguments::{ModeArgument, NodeFrames};
use super::values::{interval, process_id, seconds};

/// Profile a Node.js process that is running, without any preparation
///
/// Records the process until --duration is over, Ctrl-C is pressed, or the process ends. Then selfprof writes the trace to a file and
/// prints a table of its functions to stderr, as `selfprof run` does. The process goes on as it was before.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AttachArguments {
    /// Sample interval in milliseconds, a whole number
    #[arg(short, long, value_name = "MS", default_value = "1", value_parser = interval)]
    pub interval: f64,

    /// Stop recording a thread after N samples
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub buffer: Option<u32>,

    /// Also record performance.mark() and performance.measure()
    #[arg(long)]
    pub marks: bool,

    /// Write the trace to FILE; a name ending in `.gz` compresses it [default: NAME.selfprof.json, after the script]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Do not record the Node.js processes that the process starts from now on
    #[arg(long)]
    pub no_children: bool,

    /// Stop recording after SECONDS
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,

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

    /// How to show functions of Node.js's own scripts (`node:...`)
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub node_frames: NodeFrames,

    /// The id of the process; `pgrep -a node` lists the Node.js processes of this machine
    #[arg(value_name = "PID", value_parser = process_id)]
    pub pid: u32,
}

const EXAMPLES: &str = "\
Examples:
  selfprof attach 1234                          Record until Ctrl-C
  selfprof attach --duration 10 1234            Record for 10 seconds
  selfprof attach --last 30 1234                Press Ctrl-C when the program was slow: keeps the last 30 seconds
  selfprof attach -i 10 -o t.json.gz 1234       Sample every 10 ms and write t.json.gz
  selfprof attach $(pgrep -f server.js)

How it works: selfprof sends the process SIGUSR1, which opens Node.js's inspector on the loopback interface, begins the
recording, and closes the inspector within a fraction of a second. (Until then, other users of this machine could connect to it,
too.) Node.js prints `Debugger listening on ...` and `Debugger attached.` to the stderr of the process. If the inspector is open
already, it stays open.

What is recorded: the main thread, all workers, and the Node.js processes that start from now on. Child processes that were
running before are not; attach to each of them. Workers that are blocked in native code are not recorded, but named. So are
later workers for which Node.js cannot repeat the options or environment, e.g. with `env: SHARE_ENV`, or in a process with
`--conditions`, if the program has destructured `Worker` before. On Node.js 20 to 24, functions that V8 had inlined into
optimised code before do not appear: their time counts as their caller's.

What cannot be attached to: processes of other users or in other containers, processes with Node.js's permission model or
--disable-sigusr1, those that handle SIGUSR1 themselves (their handler is called), and those with a debugger attached. Use
`selfprof run` for them. Afterwards, hooks, signal handlers and timers are as before; the addon stays loaded, with three threads
that sleep.";
