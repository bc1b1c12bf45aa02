//! The thread that builds traces, so that JS threads do not have to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::own_thread;

type Job = Box<dyn FnOnce() + Send>;

/// Runs a job on the building thread, after all jobs that were given before. The thread starts with the first job and
/// lives as long as the process.
pub fn run(job: impl FnOnce() + Send + 'static) {
    static JOBS: OnceLock<Sender<Job>> = OnceLock::new();
    let jobs = JOBS.get_or_init(|| {
        let (sender, receiver) = channel();
        own_thread::start("selfprof-builder", move || run_all(&receiver))
            .expect("the system refused to start a thread");
        sender
    });
    // Fails only when the thread has ended, which it does only with the process.
    let _ = jobs.send(Box::new(job));
}

/// Waits until all jobs given so far are done.
pub fn wait() {
    let _ = marker().recv();
}

/// As [`wait`], for a limited time: for a caller that may hold a lock that a job needs.
pub fn wait_at_most(patience: Duration) {
    let _ = marker().recv_timeout(patience);
}

/// Receives something when all jobs given so far are done.
fn marker() -> Receiver<()> {
    let (done, waiting) = channel();
    run(move || {
        let _ = done.send(());
    });
    waiting
}

fn run_all(jobs: &Receiver<Job>) {
    yield_to_others();
    for job in jobs {
        // The panic hook has reported the panic. Later jobs, and threads that wait for them, must not suffer from it.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// Has the scheduler let a JS thread go on when it gives this thread a job. Otherwise this thread may take the
/// processor from it.
fn yield_to_others() {
    // SAFETY: the calls are for this thread alone, and all-zero is a valid sched_param. A policy that somebody else
    // chose is kept.
    unsafe {
        if libc::sched_getscheduler(0) == libc::SCHED_OTHER {
            libc::sched_setscheduler(0, libc::SCHED_BATCH, &std::mem::zeroed());
        }
    }
}
