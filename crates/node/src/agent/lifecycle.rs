//! The beginning and the end of an agent, and the interrupts in between.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use selfprof_session::{AdmitScripts, HostRoot, Instant, SessionId};
use selfprof_trace::Micros;
use selfprof_v8::{CpuSampler, Environment, LoggingMode, MappingUrls};

use super::current::{self, AgentError};
use super::notifier::Notifier;
use super::thread_agent::{Agent, Recorder};
use super::thread_requests;
use crate::journal::Journal;
use crate::output::finished::Thread;
use crate::session_request::{CLOCK_RESOLUTION, OnSessionEvent, SessionRequest, SessionView};
use crate::thread_usage::{preemptions, thread_cpu_time};
use crate::{alarm, building_thread, signals};

/// How long a thread that seemed to end may run before it is sampled again: longer than a process takes to end.
const RESUME_AFTER: Micros = Micros(100_000);

/// How long a thread whose heap is full may wait for the building thread. Its own work may hold a lock that the
/// building thread needs.
const FLUSH_PATIENCE: Duration = Duration::from_secs(1);

/// The settings of a new agent.
pub struct AgentOptions {
    /// When V8 records the addresses of code.
    pub mode: LoggingMode,
    /// Which functions traces may show.
    pub admission: AdmitScripts,
    /// The time origin of the thread's `performance`.
    pub origin: Instant,
    /// The thread.
    pub thread: Thread,
    /// Makes JavaScript check soon whether marks and measures must be recorded.
    pub on_entries_wanted: Box<dyn Fn()>,
    /// Notifies the openers of sessions.
    pub on_event: OnSessionEvent,
    /// Whether the agent ends with its streamed recording. [`keep`] changes that.
    pub is_temporary: bool,
}

thread_local! {
    /// Whether the hooks for the end of this thread's environment are installed. They outlive an agent that ends
    /// earlier.
    static HAS_HOOKS: Cell<bool> = const { Cell::new(false) };
    /// Whether sampling of this thread is paused, see [`pause`].
    static IS_PAUSED: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread's agent, unless it has one. Returns whether it did.
pub fn begin(options: AgentOptions) -> Result<bool, AgentError> {
    let AgentOptions { mode, admission, origin, thread, on_entries_wanted, on_event, is_temporary } = options;
    let is_new = current::set(|| {
        let environment = Environment::current().ok_or(AgentError::NoAgent)?;
        if !HAS_HOOKS.replace(true) {
            environment.on_cleanup(on_cleanup);
            environment.on_exit(on_exit);
        }
        let notifier = Arc::new(Notifier::new(environment.interrupter(), on_tick, on_event));
        thread_requests::add_thread(thread, Arc::clone(&notifier));
        let of_program = admission.clone().with_host_root(HostRoot::Innermost).with_evaluated_scripts();
        let view = SessionView { admission: Arc::new(admission), origin, resolution: CLOCK_RESOLUTION };
        let sampler = CpuSampler::new(&environment, mode);
        let mut agent = Agent::new(sampler, view, of_program, notifier, on_entries_wanted);
        agent.set_temporary(is_temporary);
        Ok(agent)
    })?;
    // A profile of all threads may have started before.
    current::if_any(thread_requests::process_requests);
    Ok(is_new)
}

/// The agent of this thread stays when a streamed recording ends. Returns whether the thread has an agent.
pub fn keep() -> bool {
    current::with(|agent| {
        agent.set_temporary(false);
        Ok(())
    })
    .is_ok()
}

/// The time origin of this thread's `performance`, on the system's monotonic clock.
pub fn origin() -> Result<Micros, AgentError> {
    current::with(|agent| Ok(Micros(agent.origin().0)))
}

/// What a streamed recording has.
#[derive(Clone, Copy, Debug)]
pub struct StreamOptions {
    /// Whether what there is is also written when the process may be about to run out of memory.
    pub watches_heap_limit: bool,
    /// Whether calls within Node.js's own scripts are folded.
    pub folds_node_frames: bool,
}

/// Streams what this thread records into `journal`, until its environment ends or [`stop_streams`] is called.
pub fn stream(
    request: &SessionRequest,
    journal: Arc<Journal>,
    recorder: Recorder,
    options: StreamOptions,
) -> Result<SessionId, AgentError> {
    current::with(|agent| {
        if agent.has_unwanted_stream() {
            agent.stop_streams("stopped");
        }
        let urls = Environment::current().as_ref().and_then(MappingUrls::new);
        let is_over = Arc::clone(&recorder.is_over);
        let session = agent.open_stream(request, journal, urls, (recorder, options.folds_node_frames))?;
        if options.watches_heap_limit {
            agent.watch_heap_limit(on_near_heap_limit);
        }
        signals::watch(agent.key(), agent.notifier().interrupter(), on_signal, stop_streams, is_over);
        Ok(session)
    })
}

/// Ends the streamed recordings of this thread if they are no longer wanted. The thread goes on.
pub fn stop_streams() {
    let mut has_stopped = false;
    current::if_any(|agent| {
        // Otherwise, another recorder has asked for a recording since.
        if agent.has_unwanted_stream() {
            agent.stop_streams("stopped");
            signals::ended(agent.key());
            has_stopped = true;
        }
    });
    if has_stopped {
        end_if_unused();
    }
}

/// Ends the agent of this thread if it was made for a streamed recording, and has no session.
pub fn end_if_unused() {
    let mut is_unused = false;
    current::if_any(|agent| {
        is_unused = agent.is_unused() && !thread_requests::is_recording_for_others(agent.key());
    });
    if is_unused {
        end("stopped");
    }
}

/// Something may be due. Called by the alarm, between two JavaScript instructions or from the event loop.
fn on_tick() {
    let is_paused = IS_PAUSED.get();
    current::if_any(|agent| {
        if is_paused {
            return;
        }
        let (began, cpu_before, preemptions_before) = (selfprof_v8::now(), thread_cpu_time(), preemptions());
        agent.tick();
        if agent.notifier().take_requests() {
            thread_requests::process_requests(agent);
        }
        let wall = selfprof_v8::now().since(began);
        let cpu = thread_cpu_time().saturating_sub(cpu_before);
        agent.ticks.add(wall, cpu, preemptions() == preemptions_before);
    });
    // If the agent was at work when it was told so.
    if !is_paused {
        stop_streams();
    }
}

/// Writes everything and pauses sampling of this thread until [`resume`], whatever is due meanwhile.
pub fn pause() {
    IS_PAUSED.set(true);
    suspend();
}

/// Sampling goes on.
pub fn resume() {
    if IS_PAUSED.replace(false) {
        on_tick();
    }
}

/// The thread seems to end. Everything is written and sampling pauses. If JavaScript goes on after all, sampling
/// resumes a moment later.
fn on_exit() {
    suspend();
    signals::wait_for_pending_signal();
}

/// Writes everything and pauses sampling for a moment.
pub fn suspend() {
    current::if_any(|agent| {
        agent.suspend();
        agent.end_streams("exit");
        building_thread::wait();
        agent.release_read_profiles();
        agent.notifier().check_at(selfprof_v8::now().after(RESUME_AFTER));
    });
}

/// V8 is about to end the process, because the heap is full. If it goes on after all, so does sampling.
///
/// Source maps that are not copied yet are left out, since copying may need room on the heap.
fn on_near_heap_limit() {
    // Within the agent's own work there is none.
    current::if_any(Agent::flush);
    building_thread::wait_at_most(FLUSH_PATIENCE);
}

/// The environment is being torn down.
fn on_cleanup() {
    end("exit");
    signals::wait_for_pending_signal();
}

/// A signal is about to end the process.
fn on_signal() {
    end("signal");
    signals::wait_for_pending_signal();
}

fn end(reason: &'static str) {
    let Some(mut agent) = current::take() else { return };
    let key = agent.key();
    agent.notifier().set_ended();
    agent.notifier().interrupter().revoke();
    alarm::forget(key);
    let streams = !agent.notifier().streams().is_empty();
    if streams || thread_requests::is_recording_for_others(key) {
        agent.stop_all(true);
        agent.end_streams(reason);
        // The sampler frees V8's profiles when it is dropped, so they must have been read.
        building_thread::wait();
    } else {
        agent.stop_all(false);
    }
    thread_requests::remove_thread(key);
    signals::ended(key);
}
