//! Ends streamed recordings before a signal ends the process.
//!
//! A signal handler may call only a few functions, so it wakes a thread. That thread has each recording thread write
//! its last segment, waits for them for a limited time, and then lets the signal do what it would have done. Signals
//! that the program handles itself never arrive here: handlers of the program stay, and Node installs later ones over
//! ours. Ignored signals stay ignored. When no recording is left, the handlers are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use selfprof_v8::Interrupter;

use crate::agent_key::AgentKey;
use crate::own_thread;

/// The signals that people send to end a process, and that end it by default.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How long recording threads may take to respond. One that is blocked in native code does not respond at all, and the
/// samples since its last segment are lost, as they are with SIGKILL.
const PATIENCE: Duration = Duration::from_millis(500);

/// The same when the process goes on, and nothing is lost by waiting.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

struct Watcher {
    interrupter: Interrupter,
    on_signal: fn(),
    on_stop: fn(),
    /// Whether the recorder no longer wants the recording.
    is_over: Arc<AtomicBool>,
}

/// The recording threads. JS threads add and remove themselves; the signal thread takes all.
static WATCHERS: Mutex<BTreeMap<AgentKey, Watcher>> = Mutex::new(BTreeMap::new());

/// The threads that were notified of a signal and have not ended their recordings yet. The signal thread adds, JS
/// threads remove.
static ENDING_THREADS: Mutex<BTreeSet<AgentKey>> = Mutex::new(BTreeSet::new());
static ONE_ENDED: Condvar = Condvar::new();

/// What the signals did before. Locked while the handlers are installed, so that a signal that arrives meanwhile waits
/// for its entry.
static PREVIOUS_ACTIONS: Mutex<Vec<(i32, libc::sigaction)>> = Mutex::new(Vec::new());

/// The writing end of the pipe that wakes the signal thread; -1 before there is one.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// A signal has arrived and was not passed on yet.
static PENDING: AtomicBool = AtomicBool::new(false);

/// Calls `on_signal` on the agent's thread before a signal ends the process, and `on_stop` if the recording is over
/// before the process ends. The thread answers with [`ended`].
pub fn watch(
    agent: AgentKey,
    interrupter: &Interrupter,
    on_signal: fn(),
    on_stop: fn(),
    is_over: Arc<AtomicBool>,
) {
    let watcher = Watcher { interrupter: interrupter.clone(), on_signal, on_stop, is_over };
    // Before the handlers are installed: a signal may arrive at once.
    WATCHERS.lock().insert(agent, watcher);
    install_handlers();
}

/// The agent no longer records: its recordings have ended. Also the answer to `on_signal`.
pub fn ended(agent: AgentKey) {
    WATCHERS.lock().remove(&agent);
    if ENDING_THREADS.lock().remove(&agent) {
        // The signal thread and the thread of the recorder may both wait.
        ONE_ENDED.notify_all();
    }
}

/// How many threads are watched.
pub fn watcher_count() -> usize {
    WATCHERS.lock().len()
}

/// Blocks a JS thread while a signal is about to end the process. Without the profiler, the program would already have
/// ended, and if it now exited by itself, its parent would not see the signal. Returns at once when no signal is
/// pending.
pub fn wait_for_pending_signal() {
    let until = Instant::now() + 2 * PATIENCE;
    while PENDING.load(Ordering::Acquire) && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Installs the handlers, unless they are installed.
fn install_handlers() {
    let mut previous = PREVIOUS_ACTIONS.lock();
    if previous.is_empty() && start_thread() {
        previous.extend(ENDING.iter().filter_map(|&signal| Some((signal, install_handler(signal)?))));
    }
}

/// Removes the handlers if no thread records. A program may record for a minute and then run for weeks.
pub fn remove_unused_handlers() {
    let mut previous = PREVIOUS_ACTIONS.lock();
    if WATCHERS.lock().is_empty() {
        for (signal, action) in previous.drain(..) {
            remove_handler(signal, &action);
        }
    }
}

/// Starts the signal thread and makes its pipe, once; both stay. Returns whether they exist.
fn start_thread() -> bool {
    static STARTED: OnceLock<bool> = OnceLock::new();
    *STARTED.get_or_init(|| {
        let mut pipe = [0; 2];
        // SAFETY: `pipe` has room for the two descriptors.
        if unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return false;
        }
        let [reader, writer] = pipe;
        WAKE.store(writer, Ordering::Release);
        own_thread::start("selfprof-signals", move || run(reader)).is_ok()
    })
}

/// Installs our handler for the signal, unless it is ignored, or the program handles it. Returns what was installed
/// before.
fn install_handler(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: all-zero is a valid sigaction; both structs are alive for the calls, and the handler only calls write(2),
    // which is async-signal-safe.
    unsafe {
        let mut previous: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut previous) != 0 {
            return None;
        }
        // Node's own handlers, which reset the terminal and end the process, are for one signal only. Those that libuv
        // installs for a program are not.
        let ends_process =
            previous.sa_sigaction == libc::SIG_DFL || previous.sa_flags & libc::SA_RESETHAND != 0;
        if !ends_process {
            return None;
        }
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = on_signal as *const () as usize;
        ours.sa_flags = libc::SA_RESTART;
        (libc::sigaction(signal, &ours, std::ptr::null_mut()) == 0).then_some(previous)
    }
}

/// Installs what was installed before our handler, unless the program has installed another one since.
fn remove_handler(signal: i32, previous: &libc::sigaction) {
    // SAFETY: all-zero is a valid sigaction, both structs are alive for the calls, and `previous` was filled by
    // sigaction for this signal.
    unsafe {
        let mut current: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut current) == 0
            && current.sa_sigaction == on_signal as *const () as usize
        {
            libc::sigaction(signal, previous, std::ptr::null_mut());
        }
    }
}

extern "C" fn on_signal(signal: i32) {
    let byte = signal as u8;
    PENDING.store(true, Ordering::Release);
    // SAFETY: write(2) is async-signal-safe, and `byte` lives for the call. Without a pipe it fails harmlessly.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(WAKE.load(Ordering::Acquire), (&raw const byte).cast(), 1);
        *libc::__errno_location() = errno;
    }
}

fn run(reader: i32) {
    let mut byte = 0_u8;
    loop {
        // SAFETY: `byte` has room for the one byte asked for.
        if unsafe { libc::read(reader, (&raw mut byte).cast(), 1) } == 1 {
            end_recordings(|_| true, |watcher| watcher.on_signal, PATIENCE);
            pass_on(i32::from(byte));
        }
    }
}

/// Ends the recordings of this process that are over, and the process goes on. Waits for the recording threads for a
/// limited time.
pub fn stop_recordings() {
    end_recordings(
        |watcher| watcher.is_over.load(Ordering::Acquire),
        |watcher| watcher.on_stop,
        STOP_PATIENCE,
    );
    remove_unused_handlers();
}

fn end_recordings(ends: impl Fn(&Watcher) -> bool, hook: impl Fn(&Watcher) -> fn(), patience: Duration) {
    let watchers: BTreeMap<AgentKey, Watcher> =
        WATCHERS.lock().extract_if(.., |_, watcher| ends(watcher)).collect();
    ENDING_THREADS.lock().extend(watchers.keys());
    for watcher in watchers.values() {
        watcher.interrupter.interrupt(hook(watcher));
    }
    let mut ending = ENDING_THREADS.lock();
    let _ = ONE_ENDED.wait_while_for(&mut ending, |ending| !ending.is_empty(), patience);
    // Threads that have not responded by now are not waited for at the next signal either.
    ending.clear();
}

/// Lets the signal do what it did before our handler was installed.
fn pass_on(signal: i32) {
    let previous = PREVIOUS_ACTIONS.lock();
    if let Some((_, action)) = previous.iter().find(|(installed, _)| *installed == signal) {
        remove_handler(signal, action);
    }
    // Also if the handler was removed after the signal had arrived.
    // SAFETY: a process may always signal itself.
    unsafe { libc::kill(libc::getpid(), signal) };
    PENDING.store(false, Ordering::Release);
}
