//! `selfprof attach`: profiles a Node.js process that was started without any preparation.
//!
//! SIGUSR1 makes Node.js open its inspector. Through it, the process loads the npm package's `src/run/attach.cjs`,
//! which records each thread as `selfprof run` does. Then the inspector is closed. The recording ends when this process
//! closes the connection in the directory of the recording, even because it was killed.

mod inspector;
mod limited_stream;
mod protocol;
mod recorder;
mod sockets;
mod status;
mod target;

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use selfprof_trace::Micros;
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::AttachArguments;
use crate::commands::live_recording::{LiveRecording, Products, Windows, clock};
use crate::failure::Failure;
use crate::files::output::TracePath;
use crate::installation::addon;
use crate::installation::node::{MAJORS, Node};
use crate::installation::package::Package;
use crate::recording::Descendants;
use crate::signals::not_ignored;
use crate::terminal::messages::{say, warn};
use crate::terminal::names::{printable, short_command};

use inspector::Inspector;
use recorder::NotBegun;
use target::Target;

/// How long connecting to an open inspector may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);
/// How long a process usually takes to go on with its own work after its inspector was closed. This is not kept.
const RETURN_TIME: Micros = Micros(3000);
/// At most this many processes and workers are listed.
const MAX_LISTED: usize = 10;

/// What ends a recording.
enum Event {
    /// The process has ended.
    Ended,
    /// This process was asked to end.
    Signal,
}

/// Runs the command.
pub fn attach(arguments: &AttachArguments) -> Result<ExitCode, Failure> {
    let target = Target::find(arguments.pid)?;
    let output = TracePath::new(arguments.output.as_deref(), &target.name())?;
    let package = Package::find()?;
    check_addon(&package, &target)?;
    target.check_sees(&package.attaching())?;
    let recording = LiveRecording::prepare()?;
    target.check_sees(recording.connections().path())?;
    let settings = recording.settings(&arguments.sampling, &arguments.recording, !arguments.no_children);

    let (sender, events) = channel();
    // From now on, a signal does not end this process, so that the inspector does not stay open.
    catch_signals(sender.clone())?;
    let descendants = (!arguments.no_children).then(|| Descendants::watch_later(target.pid()));
    begin(&target, &package.attaching(), &settings)?;
    let started = clock::now().saturating_add(RETURN_TIME);
    watch(&target, sender)?;
    let ends = match arguments.duration {
        Some(duration) => format!("for {} s", duration.as_secs_f64()),
        None => "until Ctrl-C".to_owned(),
    };
    say(format_args!("recording process {} (`{}`) {ends}", target.pid(), shown(&target.command())));
    if let Some(descendants) = &descendants {
        say_what_was_running(descendants, target.pid());
    }

    let mut windows = Windows::new(Some(started), arguments.recording.last);
    let has_ended = matches!(next_event(&events, arguments.duration), Some(Event::Ended));
    windows.close(clock::now());
    if has_ended {
        say(format_args!("process {} has ended", target.pid()));
    }
    let products = Products {
        output,
        top: arguments.recording.top,
        report: arguments.recording.report,
        is_cut: true,
        node_frames: arguments.recording.node_frames.node_frames,
    };
    let is_written = recording.finish(&windows, &products, descendants, has_ended);
    Ok(if is_written { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Fails if there is no addon for the Node.js of the process.
fn check_addon(package: &Package, target: &Target) -> Result<(), Failure> {
    let executable = target.executable();
    let node = Node::find(Some(&executable)).map_err(|failure| {
        if let Err(has_ended) = target.check_alive() {
            return has_ended;
        }
        failure.hint("the executable of the process must be Node.js")
    })?;
    addon::check(package, &node).map_err(|failure| {
        if MAJORS.iter().any(|&(modules, _)| modules == node.modules) {
            return failure;
        }
        let majors = MAJORS.map(|(_, major)| major.to_string()).join(", ");
        failure.hint(format!("selfprof supports Node.js {majors}"))
    })
}

/// Begins the recording in the process: the main thread, then its workers.
fn begin(target: &Target, module: &Path, settings: &Value) -> Result<(), Failure> {
    let pid = target.pid();
    let broken = |error: std::io::Error| {
        target.check_alive().err().unwrap_or_else(|| {
            Failure::job(format!("cannot use the inspector of process {pid}")).because(&error)
        })
    };
    let inspector = Inspector::open(target)?;
    let mut session = inspector.connect(Instant::now() + CONNECT_PATIENCE).map_err(|error| {
        inspector.close(None, target);
        broken(error)
    })?;
    let begun = recorder::begin_main(&mut session, module, settings);
    let missing = begun
        .as_ref()
        .map(|request| recorder::begin_workers(&mut session, module, settings, request))
        .unwrap_or_else(|_| Ok(Vec::new()));
    inspector.close(Some(session), target);
    begun.map_err(|error| target.check_alive().err().unwrap_or_else(|| not_begun(error, pid)))?;
    match missing {
        Ok(missing) => {
            for worker in missing.iter().take(MAX_LISTED) {
                let (title, reason) = (printable(&worker.title), printable(&worker.reason));
                warn(format_args!("not recorded: {title}: {reason}"));
            }
            if missing.len() > MAX_LISTED {
                warn(format_args!("not recorded: {} other workers", missing.len() - MAX_LISTED));
            }
        }
        // The main thread is recorded all the same.
        Err(_) if target.check_alive().is_err() => {}
        Err(error) => warn(format_args!("not recorded: workers that were running before: {error}")),
    }
    Ok(())
}

fn not_begun(error: NotBegun, pid: u32) -> Failure {
    match error {
        NotBegun::Silent => Failure::job(format!("process {pid} does not answer"))
            .hint("its main thread is blocked in native code; try again when it is not"),
        NotBegun::RecordedAlready => {
            Failure::job(format!("process {pid} is being recorded by another selfprof already"))
                .hint("end that recording first")
        }
        NotBegun::Forbidden => target::permission_model(pid),
        NotBegun::Other(message) => {
            Failure::job(format!("process {pid} cannot record itself: {}", printable(&message)))
        }
    }
}

/// Sends an event for each signal that asks this process to end, except those that it ignores, e.g. because of `nohup`.
fn catch_signals(sender: Sender<Event>) -> Result<(), Failure> {
    let mut signals = Signals::new(not_ignored([SIGINT, SIGTERM, SIGHUP]))
        .map_err(|error| Failure::job("cannot catch signals").because(&error))?;
    // The thread runs until this process ends, so a second signal does not interrupt writing the trace.
    thread::spawn(move || {
        for _ in signals.forever() {
            let _ = sender.send(Event::Signal);
        }
    });
    Ok(())
}

/// Sends an event when the process ends.
fn watch(target: &Target, sender: Sender<Event>) -> Result<(), Failure> {
    let handle = target.handle().map_err(|error| Failure::job("cannot watch the process").because(&error))?;
    thread::spawn(move || {
        target::wait_for_end(&handle);
        let _ = sender.send(Event::Ended);
    });
    Ok(())
}

/// The next event, if one comes in time.
fn next_event(events: &Receiver<Event>, duration: Option<Duration>) -> Option<Event> {
    match duration {
        Some(duration) => events.recv_timeout(duration).ok(),
        None => events.recv().ok(),
    }
}

/// Names child processes that were running before.
fn say_what_was_running(descendants: &Descendants, root: u32) {
    let nodes: Vec<_> =
        descendants.earlier().iter().filter(|(pid, process)| **pid != root && process.is_node).collect();
    for (pid, process) in nodes.iter().take(MAX_LISTED) {
        let command = shown(&process.command);
        say(format_args!(
            "not recorded: process {pid} (`{command}`), which was running before; attach to it, too"
        ));
    }
    if nodes.len() > MAX_LISTED {
        say(format_args!(
            "not recorded: {} other processes that were running before",
            nodes.len() - MAX_LISTED
        ));
    }
}

/// A command line in a message.
fn shown(command: &str) -> String {
    short_command(command, &env::current_dir().unwrap_or_default())
}
