//! A recorded program as tables show it: all its threads as one.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use selfprof_formats::{Process, ScriptMap, Thread};
use selfprof_trace::summary::Tally;
use selfprof_trace::{Clock, MergedThreads};

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::inferred_names::InferredNames;
use crate::source_maps;
use crate::terminal::messages::warn;

/// The threads of a program, merged. Functions have their original names and locations if source maps can be applied,
/// and the garbage collector is a function of its own, as is waiting, depending on the clock.
#[derive(Debug)]
pub struct Program {
    /// The trace, with the weights of its samples.
    pub merged: MergedThreads,
    /// Names for anonymous functions.
    pub inferred: InferredNames,
    /// Its threads, in the order of [`MergedThreads::ranges`].
    pub threads: Vec<ProgramThread>,
    tells_waiting: bool,
}

/// A thread of a program, whose samples are in the merged trace.
#[derive(Debug)]
pub struct ProgramThread {
    name: String,
    /// The name with that of its process.
    label: String,
    process: Option<Process>,
}

impl Program {
    /// Merges the threads of a profile that was recorded at `recorded`. Functions have the times of `clock`.
    pub fn new(
        threads: Vec<Thread>,
        (maps, clock): (&SourceMapArguments, Clock),
        recorded: Option<SystemTime>,
    ) -> Result<Self, Failure> {
        let merged = MergedThreads::by(clock, threads.iter().map(|thread| &thread.trace))
            .map_err(|error| Failure::job("cannot add up the threads").because(&error))?;
        // The merged trace is mapped rather than each thread, so that a function of several threads is mapped once.
        let (mut trace, inferred) =
            source_maps::apply_to_merged(merged.trace, &source_maps_of(&threads), maps, recorded)?;
        trace.add_gc_frames();
        let merged = MergedThreads { trace, ..merged };
        let threads = threads.into_iter().map(ProgramThread::of).collect();
        Ok(Self { merged, inferred, threads, tells_waiting: clock != Clock::Wall })
    }

    /// Whether the time in which threads waited is known and told apart.
    pub fn knows_waiting(&self) -> bool {
        self.tells_waiting && self.merged.with_waiting_times > 0
    }

    /// Warns if its CPU times are not known, or not those of all threads.
    pub fn warn_of_unknown_times(&self, what: &str) {
        let (known, all) = (self.merged.with_waiting_times, self.threads.len());
        if known == 0 {
            warn(format_args!("{what} has no CPU times, so wall-clock times are shown"));
        } else if known < all {
            let unknown = all - known;
            warn(format_args!(
                "{unknown} of {all} threads of {what} have no CPU times; their wall-clock times are shown"
            ));
        }
    }

    /// The time of each thread, most busy time first.
    pub fn thread_rows(&self) -> Vec<ThreadRow> {
        sorted(self.threads.iter().zip(self.tallies()).map(|(thread, tallies)| {
            let command = String::new();
            self.row(thread.label.clone(), command, 1, tallies)
        }))
    }

    /// The time of each process, most busy time first. Threads of unknown processes have a row each.
    pub fn process_rows(&self) -> Vec<ThreadRow> {
        let mut rows: Vec<ThreadRow> = Vec::new();
        // The system may use the id of an ended process again.
        let mut row_of: HashMap<(u32, &str), usize> = HashMap::new();
        for (thread, tallies) in self.threads.iter().zip(self.tallies()) {
            let mut new_row = || {
                let (name, command) = match &thread.process {
                    Some(process) => (process.label(), process.command.clone()),
                    None => (thread.name.clone(), String::new()),
                };
                rows.push(self.row(name, command, 0, ThreadTallies::default()));
                rows.len() - 1
            };
            let index = match &thread.process {
                Some(process) => *row_of.entry((process.pid, &process.command)).or_insert_with(new_row),
                None => new_row(),
            };
            let row = &mut rows[index];
            row.threads += 1;
            row.busy.include(tallies.busy);
            row.idle.include(tallies.idle);
            if let Some(waiting) = &mut row.waiting {
                waiting.include(tallies.waiting);
            }
        }
        sorted(rows)
    }

    fn row(&self, name: String, command: String, threads: usize, tallies: ThreadTallies) -> ThreadRow {
        let ThreadTallies { busy, waiting, idle } = tallies;
        let waiting = (self.knows_waiting() && self.merged.left_out.is_none()).then_some(waiting);
        ThreadRow { name, command, threads, busy, waiting, idle }
    }

    /// The times of each thread.
    fn tallies(&self) -> impl Iterator<Item = ThreadTallies> {
        let MergedThreads { trace, weights, ranges, .. } = &self.merged;
        let is_waiting: Vec<bool> =
            trace.stacks().iter().map(|(_, stack)| trace.is_waiting(stack.frame)).collect();
        ranges.iter().map(move |range| {
            let mut tallies = ThreadTallies::default();
            for (sample, &weight) in trace.samples()[range.clone()].iter().zip(&weights[range.clone()]) {
                if sample.is_idle() {
                    tallies.idle.add(weight)
                } else {
                    tallies.busy.add(weight)
                }
                if sample.stack.is_some_and(|stack| is_waiting[stack.index()]) {
                    tallies.waiting.add(weight);
                }
            }
            tallies
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

impl ProgramThread {
    fn of(thread: Thread) -> Self {
        Self { label: thread.label().into_owned(), name: thread.name, process: thread.process }
    }
}

#[derive(Default)]
struct ThreadTallies {
    busy: Tally,
    waiting: Tally,
    idle: Tally,
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
    /// The busy samples in which the thread waited, if they are told apart.
    pub waiting: Option<Tally>,
    /// The other samples.
    pub idle: Tally,
}

/// The source maps of all threads. If threads have different maps for a script, the first one is used.
fn source_maps_of(threads: &[Thread]) -> Vec<ScriptMap> {
    let mut known: HashSet<&str> = HashSet::new();
    let all = threads.iter().flat_map(|thread| &thread.source_maps);
    all.filter(|map| known.insert(&map.resource)).cloned().collect()
}

fn sorted(rows: impl IntoIterator<Item = ThreadRow>) -> Vec<ThreadRow> {
    let mut rows: Vec<ThreadRow> = rows.into_iter().collect();
    // Stable, so equal rows stay in the order of the file.
    rows.sort_by_key(|row| Reverse(row.busy.time));
    rows
}
