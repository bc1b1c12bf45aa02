//! A recorded program as tables show it: all its threads as one.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::SystemTime;

use selfprof_formats::Thread;
use selfprof_trace::MergedThreads;
use selfprof_trace::summary::Tally;

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::inferred_names::InferredNames;
use crate::source_maps::{self, ReadableThread};

/// The threads of a program, merged. Functions have their original names and locations if source maps can be applied, and the garbage
/// collector is a function of its own.
#[derive(Debug)]
pub struct Program {
    /// The trace, with the weights of its samples.
    pub merged: MergedThreads,
    /// Names for anonymous functions.
    pub inferred: InferredNames,
    /// The threads without their traces, in the order of [`MergedThreads::ranges`].
    pub threads: Vec<Thread>,
}

impl Program {
    /// Merges the threads of a profile that was recorded at `recorded`.
    pub fn new(
        threads: Vec<Thread>,
        maps: &SourceMapArguments,
        recorded: Option<SystemTime>,
    ) -> Result<Self, Failure> {
        let mut merged = MergedThreads::of(threads.iter().map(|thread| &thread.trace))
            .map_err(|error| Failure::job("cannot add up the threads").because(&error))?;
        // The merged trace is mapped rather than each thread, so that a function of several threads is mapped once.
        let whole = Thread::main(std::mem::take(&mut merged.trace));
        let inferred = match source_maps::apply(vec![whole], maps, recorded)?.pop() {
            Some(ReadableThread { thread, inferred, .. }) => {
                merged.trace = thread.trace;
                inferred
            }
            None => InferredNames::new(),
        };
        merged.trace.add_collector_frames();
        let threads = threads.into_iter().map(|thread| thread.with_trace(Default::default())).collect();
        Ok(Self { merged, inferred, threads })
    }

    /// The time of each thread, most busy time first.
    pub fn thread_rows(&self) -> Vec<ThreadRow> {
        sorted(self.threads.iter().zip(self.tallies()).map(|(thread, tallies)| {
            let (busy, idle) = tallies;
            let command = String::new();
            ThreadRow { name: thread.label().into_owned(), command, threads: 1, busy, idle }
        }))
    }

    /// The time of each process, most busy time first. Threads of unknown processes have a row each.
    pub fn process_rows(&self) -> Vec<ThreadRow> {
        let mut rows: Vec<ThreadRow> = Vec::new();
        // The system may use the id of an ended process again.
        let mut row_of: HashMap<(u32, &str), usize> = HashMap::new();
        for (thread, (busy, idle)) in self.threads.iter().zip(self.tallies()) {
            let mut new_row = || {
                let (name, command) = match &thread.process {
                    Some(process) => (process.label(), process.command.clone()),
                    None => (thread.name.clone(), String::new()),
                };
                rows.push(ThreadRow {
                    name,
                    command,
                    threads: 0,
                    busy: Tally::default(),
                    idle: Tally::default(),
                });
                rows.len() - 1
            };
            let index = match &thread.process {
                Some(process) => *row_of.entry((process.pid, &process.command)).or_insert_with(new_row),
                None => new_row(),
            };
            let row = &mut rows[index];
            row.threads += 1;
            row.busy.include(busy);
            row.idle.include(idle);
        }
        sorted(rows)
    }

    /// The busy and the idle time of each thread.
    fn tallies(&self) -> impl Iterator<Item = (Tally, Tally)> {
        let MergedThreads { trace, weights, ranges, .. } = &self.merged;
        ranges.iter().map(move |range| {
            let (mut busy, mut idle) = (Tally::default(), Tally::default());
            for (sample, &weight) in trace.samples()[range.clone()].iter().zip(&weights[range.clone()]) {
                if sample.is_idle() { idle.add(weight) } else { busy.add(weight) }
            }
            (busy, idle)
        })
    }

    /// The number of processes that the threads belong to, if it is known.
    pub fn processes(&self) -> Option<usize> {
        let mut pids: Vec<u32> =
            self.threads.iter().map(|thread| Some(thread.process.as_ref()?.pid)).collect::<Option<_>>()?;
        pids.sort_unstable();
        pids.dedup();
        Some(pids.len())
    }
}

/// The time of a thread, or of all threads of a process.
#[derive(Clone, Debug)]
pub struct ThreadRow {
    /// The label of the thread or process.
    pub name: String,
    /// The command line; empty for a thread.
    pub command: String,
    /// The number of threads.
    pub threads: usize,
    /// The samples with a stack or a marker.
    pub busy: Tally,
    /// The other samples.
    pub idle: Tally,
}

fn sorted(rows: impl IntoIterator<Item = ThreadRow>) -> Vec<ThreadRow> {
    let mut rows: Vec<ThreadRow> = rows.into_iter().collect();
    // Stable, so equal rows stay in the order of the file.
    rows.sort_by_key(|row| Reverse(row.busy.time));
    rows
}
