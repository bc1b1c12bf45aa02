//! The threads that are selfprof's own.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::thread;

/// Signals that a thread gets for what it does itself. They must not be blocked: the process would end without its
/// handlers.
const OF_THE_THREAD: [i32; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT, libc::SIGSYS];

/// Starts a thread that gets no signal of the process. The system may pick any thread for a signal, and then a call
/// that blocks in this thread fails, or the program's handler runs where it never ran before.
///
/// # Errors
/// When the system refuses to start a thread.
pub fn start(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        block_signals();
        run();
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}

fn block_signals() {
    let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigfillset initialises the set, the signals are valid, and the mask is that of this thread alone.
    unsafe {
        libc::sigfillset(signals.as_mut_ptr());
        for signal in OF_THE_THREAD {
            libc::sigdelset(signals.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, signals.as_ptr(), ptr::null_mut());
    }
}
