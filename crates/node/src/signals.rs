//! Ends streamed recordings before a signal ends the process.
//!
//! A signal handler may do next to nothing, so it wakes a thread; that thread has each recording's JS thread write its
//! last segment, waits for them a moment, and then lets the signal do what it would have done. Signals that the
//! program handles itself never come here, because Node installs its handler over ours, and ignored ones stay ignored.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use selfprof_v8::Interrupter;

use crate::agent;
use crate::locks::lock;

/// The signals that end a process unless it says otherwise, and that people send to end it.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How long a JS thread may take to notice. One that is blocked in native code does not notice at all, and the samples
/// since its last segment are lost, as they are with SIGKILL.
const PATIENCE: Duration = Duration::from_millis(500);

struct Watch {
    /// The recording threads. JS threads add to it, the signal thread empties it.
    recorders: Mutex<Vec<Interrupter>>,
    /// How many of them have yet to end.
    waiting_for: Mutex<usize>,
    ended: Condvar,
    /// What the signals did before.
    previous: Vec<(i32, libc::sigaction)>,
}

/// The writing end of the pipe that wakes the signal thread; -1 before there is one.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// A signal has come and was not passed on yet.
static PENDING: AtomicBool = AtomicBool::new(false);

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Sees to it that this recorder is ended before a signal ends the process.
pub fn watch(recorder: &Interrupter) {
    let watch = WATCH.get_or_init(start);
    lock(&watch.recorders).push(recorder.clone());
}

/// A recorder has ended, as it was asked to.
pub fn ended() {
    if let Some(watch) = WATCH.get() {
        let mut waiting_for = lock(&watch.waiting_for);
        *waiting_for = waiting_for.saturating_sub(1);
        watch.ended.notify_one();
    }
}

/// Keeps a JS thread from going on when a signal is about to end the process: without us the program would not have got
/// any further, and an exit of its own would hide the signal. Returns at once when no signal has come.
pub fn hold() {
    let until = Instant::now() + 2 * PATIENCE;
    while PENDING.load(Ordering::Acquire) && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

fn start() -> Watch {
    let mut pipe = [0; 2];
    // SAFETY: `pipe` has room for the two descriptors.
    let piped = unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) } == 0;
    let mut previous = Vec::new();
    if piped {
        WAKE.store(pipe[1], Ordering::Release);
        let reader = pipe[0];
        let spawned = thread::Builder::new().name("selfprof-signals".into()).spawn(move || run(reader));
        if spawned.is_ok() {
            previous = ENDING.iter().filter_map(|&signal| Some((signal, install(signal)?))).collect();
        }
    }
    Watch { recorders: Mutex::new(Vec::new()), waiting_for: Mutex::new(0), ended: Condvar::new(), previous }
}

/// Puts our handler in place of the signal's, unless it is ignored. Returns what was there.
fn install(signal: i32) -> Option<libc::sigaction> {
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
    // SAFETY: write(2) is async-signal-safe, and `byte` lives for the call. With no pipe it fails harmlessly.
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
        let read = unsafe { libc::read(reader, (&raw mut byte).cast(), 1) };
        if read == 1
            && let Some(watch) = WATCH.get()
        {
            end_recorders(watch);
            pass_on(watch, i32::from(byte));
        }
    }
}

fn end_recorders(watch: &Watch) {
    let recorders = std::mem::take(&mut *lock(&watch.recorders));
    let mut waiting_for = lock(&watch.waiting_for);
    *waiting_for = recorders.len();
    for recorder in recorders {
        recorder.interrupt(agent::on_signal);
    }
    // Whoever is late is late; the signal must not wait for ever.
    let _ = watch.ended.wait_timeout_while(waiting_for, PATIENCE, |waiting_for| *waiting_for > 0);
}

/// Lets the signal do what it did before we came.
fn pass_on(watch: &Watch, signal: i32) {
    if let Some((_, previous)) = watch.previous.iter().find(|(watched, _)| *watched == signal) {
        // SAFETY: `previous` was filled by sigaction for this signal, and sending ourselves a signal is always allowed.
        unsafe {
            libc::sigaction(signal, previous, std::ptr::null_mut());
            libc::kill(libc::getpid(), signal);
        }
    }
    PENDING.store(false, Ordering::Release);
}
