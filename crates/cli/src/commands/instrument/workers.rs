//! Work on many files, on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::failure::Failure;

/// The stack of a thread, which the parser needs for code that nests deeply.
pub const STACK_BYTES: usize = 16 << 20;

/// More threads would compete for memory: the tree of a script takes many times its size.
const MAX_THREADS: usize = 8;

/// Calls `work` with each item, on as many threads as there are processors. The results have the order of the items; the first failure
/// is returned.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(MAX_THREADS).min(items.len());
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            // The counter orders nothing else: each thread returns what it has done.
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return Ok(done) };
            match work(item) {
                Ok(result) => done.push((index, result)),
                Err(failure) => {
                    // The others stop, too.
                    next.store(items.len(), Ordering::Relaxed);
                    return Err(failure);
                }
            }
        }
    };
    let mut results = thread::scope(|scope| {
        let started: Result<Vec<_>, _> = (0..threads)
            .map(|_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, take))
            .collect();
        let started = started.map_err(|error| Failure::job("cannot start a thread").because(&error))?;
        let mut results = Vec::with_capacity(items.len());
        for thread in started {
            match thread.join() {
                Ok(done) => results.extend(done?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(results)
    })?;
    results.sort_unstable_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let squares = map(&items, |item| Ok(item * item)).unwrap();
        assert!(squares.iter().enumerate().all(|(index, square)| *square == index * index));
        assert_eq!(map(&[], |_: &usize| Ok(0)).unwrap(), [0; 0]);
    }

    #[test]
    fn a_failure_ends_the_work() {
        let result = map(&[1, 2, 3], |item| if *item == 2 { Err(Failure::job("two")) } else { Ok(*item) });
        assert_eq!(result.unwrap_err().to_string(), "two");
    }
}
