//! Work on many files, on several threads.

use std::thread::available_parallelism;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::SiteError;

/// The stack that a call of `work` may use, which the parser needs for code that nests deeply.
pub const STACK_BYTES: usize = 16 << 20;

/// What the threads need of their stacks themselves.
const OWN_STACK_BYTES: usize = 2 << 20;

/// More threads would compete for memory: the tree of a script takes many times its size.
const MAX_THREADS: usize = 8;

/// Threads.
#[derive(Debug)]
pub struct Workers(ThreadPool);

impl Workers {
    pub fn start() -> Result<Self, SiteError> {
        let threads = available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES + OWN_STACK_BYTES);
        pool.build().map(Self).map_err(SiteError::Threads)
    }

    /// Calls `work` with each item. The results have the order of the items; a failure ends the work.
    pub fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<R, SiteError> + Send + Sync,
    ) -> Result<Vec<R>, SiteError> {
        // Some items take as long as all others together.
        self.0.install(|| items.par_iter().with_max_len(1).map(work).collect())
    }
}
