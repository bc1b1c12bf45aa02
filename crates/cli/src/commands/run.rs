//! `selfprof run`: profiles a program in Node.js.
//!
//! The recording happens in the program's process: Node.js preloads the npm package's `run.cjs`, which streams one
//! journal per thread into a temporary directory. However the program ends, the journals remain, and this command turns
//! them into traces.

mod child;
pub mod command;

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use selfprof_trace::Micros;

use crate::arguments::RunArguments;
use crate::commands::live_recording::{LiveRecording, Products, Windows, clock};
use crate::failure::Failure;
use crate::files::output::TracePath;
use crate::installation::addon;
use crate::installation::node::Node;
use crate::installation::package::Package;
use crate::recording::Descendants;
use crate::terminal::messages::say;

use child::{Child, Ended, Event, Executable};
use command::{CommandLine, Program, SearchPath, is_permission_model};
/// Runs the command. Wrong usage is reported before the program starts.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let command = CommandLine::new(&arguments.command, &SearchPath::of_process())?;
    let output = TracePath::new(arguments.output.as_deref(), &command.name)?;
    check_permissions(&command)?;
    let program = program(&command, arguments)?;
    let package = Package::find()?;
    if let Executable::Node(node) = &program {
        addon::check(&package, node)?;
    }
    let recording = LiveRecording::prepare()?;
    let settings = recording.settings(&arguments.sampling, &arguments.recording, !arguments.no_children);

    let started = clock::now();
    let child = Child::spawn(&program, &package, &settings, &command, arguments.toggle)?;
    let is_whole =
        arguments.delay.is_none() && arguments.toggle.is_none() && arguments.recording.last.is_none();
    let products = Products {
        output,
        top: arguments.recording.top,
        report: arguments.recording.report,
        node_frames: arguments.recording.node_frames.node_frames,
        is_cut: !is_whole || arguments.duration.is_some(),
    };
    let session = Session { recording, descendants: Descendants::watch(child.id()), products };
    supervise(&child, session, arguments, started)
}

/// Records until the recording or the program ends, and waits for the program.
fn supervise(
    child: &Child,
    session: Session,
    arguments: &RunArguments,
    started: Micros,
) -> Result<ExitCode, Failure> {
    let mut session = Some(session);
    let mut is_written = true;
    let mut windows = first_window(arguments, started);
    let delay = arguments.delay.unwrap_or_default();
    let mut deadline = arguments.duration.map(|duration| Instant::now() + delay + duration);
    let ended = loop {
        match child.next_event(deadline) {
            Event::Ended(ended) => break ended?,
            Event::Toggle => {
                windows.toggle(clock::now());
                if session.is_some() {
                    say(if windows.is_open(clock::now()) { "recording" } else { "not recording any more" });
                }
                if arguments.recording.last.is_none() {
                    continue;
                }
            }
            Event::Deadline => windows.close(clock::now()),
        }
        // The recording ends before the program.
        deadline = None;
        if let Some(session) = session.take() {
            is_written = session.finish(&windows, false);
        }
    };
    if let Some(session) = session {
        is_written = session.finish(&windows, true);
    }
    match ended {
        Ended::Signal(signal) => Ok(child::die_of(signal)),
        Ended::Code(0) if !is_written => Ok(ExitCode::FAILURE),
        Ended::Code(code) => Ok(code.into()),
    }
}

/// The window that is known when the program starts.
fn first_window(arguments: &RunArguments, started: Micros) -> Windows {
    // With `--last`, the signal ends the recording; otherwise it begins it.
    let waits_for_signal = arguments.toggle.is_some() && arguments.recording.last.is_none();
    if let Some(signal) = arguments.toggle {
        let what = if waits_for_signal { "recording begins with" } else { "the trace is written after" };
        let name = signal.name();
        say(format_args!("{what} {name}: kill -{} {}", name.trim_start_matches("SIG"), std::process::id()));
    }
    let delay = Micros::from_millis_f64(arguments.delay.unwrap_or_default().as_secs_f64() * 1e3);
    let from = started.saturating_add(delay.unwrap_or_default());
    Windows::new((!waits_for_signal).then_some(from), arguments.recording.last)
}

/// A recording that has not been written yet.
struct Session {
    recording: LiveRecording,
    descendants: Descendants,
    products: Products,
}

impl Session {
    /// Ends the recordings of all processes and writes the trace. Returns whether that succeeded.
    fn finish(self, windows: &Windows, has_ended: bool) -> bool {
        let Self { recording, descendants, products } = self;
        recording.finish(windows, &products, Some(descendants), has_ended)
    }
}

/// Fails if Node.js would not load the recorder.
fn check_permissions(command: &CommandLine) -> Result<(), Failure> {
    let variable = env::var("NODE_OPTIONS").unwrap_or_default();
    if command.has_permission_model() || variable.split_whitespace().any(is_permission_model) {
        return Err(Failure::usage("Node.js's permission model would keep the recorder from loading")
            .hint("run the program without `--permission` to profile it"));
    }
    Ok(())
}

/// Finds the executable before anything starts.
fn program(command: &CommandLine, arguments: &RunArguments) -> Result<Executable, Failure> {
    let node = arguments.node.as_deref();
    match &command.program {
        Program::Node => Node::find(node).map(Executable::Node),
        Program::NodeAt(path) => Node::find(Some(path)).map(Executable::Node),
        Program::Other(path, kind) if arguments.no_children => {
            Err(Failure::usage(format!("{} is {kind}, so there is nothing to record", path.display()))
                .hint("without --no-children, the Node.js processes that it starts are recorded"))
        }
        Program::Other(path, _) => {
            let node = node.map(|path| Node::find(Some(path))).transpose()?;
            Ok(Executable::Other { path: path.clone(), node })
        }
    }
}
