//! `selfprof run`: profiles a program in Node.js.
//!
//! The recording happens in the program's process: Node.js preloads the npm package's `run.cjs`, which streams one journal per
//! thread into a temporary directory. However the program ends, the journals remain, and this command turns them into
//! traces.

mod child;
mod clock;
mod command;
mod windows;

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use selfprof_trace::Micros;

use crate::arguments::RunArguments;
use crate::commands::report::report_run;
use crate::failure::Failure;
use crate::files::output::TracePath;
use crate::installation::addon;
use crate::installation::node::Node;
use crate::installation::package::Package;
use crate::recording::{Connections, Descendants, Ending, IsKept, Recording};
use crate::terminal::messages::{say, warn};

use child::{Child, Ended, Event, Executable};
use command::{CommandLine, Program, SearchPath, is_permission_model};
use windows::Windows;

/// How long child processes may take to end after the program.
const CHILDREN_PATIENCE: Duration = Duration::from_millis(200);

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
    let recording = Recording::prepare()?;
    let connections = Connections::listen(recording.directory()).map_err(|error| {
        Failure::job(format!("cannot create a socket in {}", recording.directory().display()))
            .because(&error)
            .hint("TMPDIR sets another directory for temporary files")
    })?;

    let started = clock::now();
    let child = Child::spawn(&program, &package, (&recording, &connections), &command, arguments)?;
    let session = Session { recording, connections, descendants: Descendants::watch(child.id()), output };
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
                if arguments.last.is_none() {
                    continue;
                }
            }
            Event::Deadline => windows.close(clock::now()),
        }
        // The recording ends before the program.
        deadline = None;
        if let Some(session) = session.take() {
            is_written = session.finish(&windows, arguments, false);
        }
    };
    if let Some(session) = session {
        is_written = session.finish(&windows, arguments, true);
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
    let waits_for_signal = arguments.toggle.is_some() && arguments.last.is_none();
    if let Some(signal) = arguments.toggle {
        let what = if waits_for_signal { "recording begins with" } else { "the trace is written after" };
        let name = signal.name();
        say(format_args!("{what} {name}: kill -{} {}", name.trim_start_matches("SIG"), std::process::id()));
    }
    let delay = Micros::from_millis_f64(arguments.delay.unwrap_or_default().as_secs_f64() * 1e3);
    let from = started.saturating_add(delay.unwrap_or_default());
    Windows::new((!waits_for_signal).then_some(from), arguments.last)
}

/// A recording that has not been written yet.
struct Session {
    recording: Recording,
    connections: Connections,
    descendants: Descendants,
    output: TracePath,
}

impl Session {
    /// Ends the recordings of all processes and writes the trace. Returns whether that succeeded.
    fn finish(self, windows: &Windows, arguments: &RunArguments, has_ended: bool) -> bool {
        let Self { recording, connections, descendants, output } = self;
        let end = clock::now();
        // Before the recordings end: a process that starts later is not missed.
        let mut seen = descendants.seen();
        seen.retain(|_, process| has_ended || process.is_old());
        // Child processes may be about to end with the program.
        let alive = if has_ended { connections.alive_after(CHILDREN_PATIENCE) } else { Vec::new() };
        for pid in connections.end() {
            warn(format_args!("process {pid} does not answer; its last samples may be missing"));
        }
        let is_kept = |time| windows.contains(time, end);
        let is_whole = arguments.delay.is_none() && arguments.toggle.is_none() && arguments.last.is_none();
        let is_cut = !is_whole || arguments.duration.is_some();
        let ending = Ending { is_kept: is_cut.then_some(&is_kept as IsKept<'_>), seen, alive };
        let finished = recording.finish(&output, arguments.top, &ending);
        if let Err(failure) = &finished {
            failure.report();
        }
        if arguments.report
            && finished.is_ok()
            && let Err(failure) = report_run(output.path())
        {
            failure.report();
        }
        // Deletes the journals, unless they are all that there is. If a signal killed this process, they would remain, too.
        if finished.is_err()
            && let Some(directory) = recording.keep()
        {
            say(format_args!(
                "the recording is in {}; `selfprof recover {}` writes its trace",
                directory.display(),
                command::quoted(&directory.to_string_lossy())
            ));
        }
        finished.is_ok()
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
