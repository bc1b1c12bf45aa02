//! The thread that reads, encodes and sends. It may wait for an endpoint, and the exporter does not wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::{io, thread};

use crate::batch::Batch;
use crate::outputs::{Output, Receipt, SendError};

/// A batch to send.
pub struct Job {
    /// Which folder it is from.
    pub source: usize,
    /// Where it goes.
    pub output: Box<dyn Output>,
    /// What is sent.
    pub batch: Batch,
}

/// A job that is done.
pub struct Done {
    /// The job.
    pub job: Job,
    /// What became of it.
    pub result: Result<Receipt, SendError>,
}

/// Starts the thread. It ends with the channel.
pub fn start(done: impl Fn(Done) + Send + 'static) -> io::Result<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let send = move || {
        for mut job in jobs {
            let result = catch_unwind(AssertUnwindSafe(|| job.output.send(&job.batch)));
            // A part that causes a panic would cause it again.
            let result =
                result.unwrap_or_else(|_| Err(SendError::Never { reason: "the exporter failed".to_owned() }));
            done(Done { job, result });
        }
    };
    thread::Builder::new().name("selfprof-send".to_owned()).spawn(send)?;
    Ok(sender)
}
