//! Ends streamed recordings before a signal ends the process.
//!
//! A signal handler may call only a few functions, so it wakes a thread. That thread has each recording thread write its
//! last segment, waits for them for a limited time, and then lets the signal do what it would have done. Signals that the
//! program handles itself never arrive here, because Node installs its handler over ours. Ignored signals stay ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use selfprof_v8::Interrupter;

use crate::agent_key::AgentKey;

/// The signals that people send to end a process, and that end it by default.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How long recording threads may take to respond. One that is blocked in native code does not respond at all, and the
/// samples since its last segment are lost, as they are with SIGKILL.
const PATIENCE: Duration = Duration::from_millis(500);

struct Watcher {
    interrupter: Interrupter,
    on_signal: fn(),
    on_stop: fn(),
}

/// The recording threads. JS threads add and remove themselves; the signal thread takes all.
static WATCHERS: Mutex<BTreeMap<AgentKey, Watcher>> = Mutex::new(BTreeMap::new());

/// The threads that were notified of a signal and have not ended their recordings yet. The signal thread adds, JS threads
/// remove.
static ENDING_THREADS: Mutex<BTreeSet<AgentKey>> = Mutex::new(BTreeSet::new());
static ONE_ENDED: Condvar = Condvar::new();

/// What the signals did before. Locked while the handlers are installed, so that a signal that arrives meanwhile waits for
/// its entry.
static PREVIOUS_ACTIONS: Mutex<Vec<(i32, libc::sigaction)>> = Mutex::new(Vec::new());

/// The writing end of the pipe that wakes the signal thread; -1 before there is one.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// A signal has arrived and was not passed on yet.
static PENDING: AtomicBool = AtomicBool::new(false);

/// Calls `on_signal` on the agent's thread before a signal ends the process, and `on_stop` if the recording ends before the
/// process. The thread answers with [`ended`].
pub fn watch(agent: AgentKey, interrupter: &Interrupter, on_signal: fn(), on_stop: fn()) {
    // Before the handlers are installed: a signal may arrive at once.
    WATCHERS.lock().insert(agent, Watcher { interrupter: interrupter.clone(), on_signal, on_stop });
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install_handlers);
}

/// The agent no longer records: its recordings have ended. Also the answer to `on_signal`.
pub fn ended(agent: AgentKey) {
    WATCHERS.lock().remove(&agent);
    if ENDING_THREADS.lock().remove(&agent) {
        ONE_ENDED.notify_one();
    }
}

/// How many threads are watched.
pub fn watcher_count() -> usize {
    WATCHERS.lock().len()
}

/// Blocks a JS thread while a signal is about to end the process. Without the profiler, the program would already have
/// ended, and if it now exited by itself, its parent would not see the signal. Returns at once when no signal is pending.
pub fn wait_for_pending_signal() {
    let until = Instant::now() + 2 * PATIENCE;
    while PENDING.load(Ordering::Acquire) && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

fn install_handlers() {
    let mut pipe = [0; 2];
    // SAFETY: `pipe` has room for the two descriptors.
    if unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return;
    }
    let [reader, writer] = pipe;
    WAKE.store(writer, Ordering::Release);
    let mut previous = PREVIOUS_ACTIONS.lock();
    if thread::Builder::new().name("selfprof-signals".into()).spawn(move || run(reader)).is_ok() {
        previous.extend(ENDING.iter().filter_map(|&signal| Some((signal, install_handler(signal)?))));
    }
}

/// Installs our handler for the signal, unless it is ignored. Returns what was installed before.
fn install_handler(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: all-zero is a valid sigaction; both structs are alive for the calls, and the handler only calls write(2),
    // which is async-signal-safe.
    unsafe {
        let mut previous: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut previous) != 0
            || previous.sa_sigaction == libc::SIG_IGN
        {
            return None;
        }
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = on_signal as *const () as usize;
        ours.sa_flags = libc::SA_RESTART;
        (libc::sigaction(signal, &ours, std::ptr::null_mut()) == 0).then_some(previous)
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
            end_recordings(|watcher| watcher.on_signal);
            pass_on(i32::from(byte));
        }
    }
}

/// Ends all recordings of this process, which goes on. Waits for the recording threads for a limited time.
pub fn stop_recordings() {
    end_recordings(|watcher| watcher.on_stop);
}

fn end_recordings(hook: impl Fn(&Watcher) -> fn()) {
    let watchers = std::mem::take(&mut *WATCHERS.lock());
    ENDING_THREADS.lock().extend(watchers.keys());
    for watcher in watchers.values() {
        watcher.interrupter.interrupt(hook(watcher));
    }
    let mut ending = ENDING_THREADS.lock();
    let _ = ONE_ENDED.wait_while_for(&mut ending, |ending| !ending.is_empty(), PATIENCE);
    // Threads that have not responded by now are not waited for at the next signal either.
    ending.clear();
}

/// Lets the signal do what it did before our handler was installed.
fn pass_on(signal: i32) {
    let previous = PREVIOUS_ACTIONS.lock();
    if let Some((_, action)) = previous.iter().find(|(installed, _)| *installed == signal) {
        // SAFETY: `action` was filled by sigaction for this signal, and a process may always signal itself.
        unsafe {
            libc::sigaction(signal, action, std::ptr::null_mut());
            libc::kill(libc::getpid(), signal);
        }
    }
    PENDING.store(false, Ordering::Release);
}
