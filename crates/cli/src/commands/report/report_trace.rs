//! The traces of a report: each has the threads of one file, or of several with `--together`.

use std::borrow::Cow;
use std::ops::Range;

use selfprof_formats::Process;
use selfprof_trace::{Entries, FrameId, InternError, MergedThreads, Micros, StackId, Trace};

use crate::inferred_names::InferredNames;
use crate::source_maps::{ReadableThread, Snippets};
use crate::terminal::tables::gaps;

/// The threads of a file.
#[derive(Debug)]
pub struct FileThreads {
    /// The file's name.
    pub name: String,
    /// Its threads, with source maps applied.
    pub threads: Vec<ReadableThread>,
    /// The number of problems in the file.
    pub problems: u64,
    /// What readers must know of it.
    pub remark: Option<String>,
}

/// A trace of a report.
#[derive(Debug)]
pub struct ReportTrace {
    /// The names of its files.
    pub title: String,
    /// Remarks about the trace, e.g. the number of problems in its files.
    pub notes: Vec<String>,
    /// The functions and stacks of all threads, and the samples of one thread after another.
    pub merged: MergedThreads,
    /// Names for its anonymous functions.
    pub inferred: InferredNames,
    /// Lines of the original sources.
    pub snippets: Snippets,
    /// The threads, in the order of their samples.
    pub threads: Vec<ReportThread>,
    /// The stacks in which functions of Node.js's own scripts are folded, by the stacks in which they are not; `None`
    /// if there are none.
    pub folded: Option<Vec<Option<StackId>>>,
}

/// A thread of a trace.
#[derive(Debug)]
pub struct ReportThread {
    /// The thread's name.
    pub name: String,
    /// The process of the thread, if it is known.
    pub process: Option<Process>,
    /// The name of the thread's file, if the trace has several files.
    pub file: Option<String>,
    /// The median time between its samples as they were recorded.
    pub interval: Option<Micros>,
    /// Whether its samples stand for the times between calls.
    pub has_calls: bool,
    /// Its samples in the merged trace.
    pub samples: Range<usize>,
    /// Its marks and measures.
    pub entries: Option<Entries>,
    /// To be subtracted from all times.
    pub start: Micros,
}

impl ReportTrace {
    /// The trace of a file. Fails if a table is full.
    pub fn of(mut file: FileThreads) -> Result<Self, InternError> {
        let problems = problem_note(file.problems, "the file");
        let notes = file.remark.take().map(|remark| format!("This is {remark}.")).into_iter().chain(problems);
        let notes = notes.chain(add_call_samples(&mut file)?);
        let mut trace = Self::empty(file.name, notes.collect());
        for thread in file.threads {
            trace.push(thread, None, Micros::ZERO)?;
        }
        trace.finish()
    }

    /// The threads of several files side by side. Files have no common time axis, so each one begins at 0.
    pub fn together(mut files: Vec<FileThreads>) -> Result<Self, InternError> {
        let title = match &files[..] {
            [first, second] => format!("{}, {}", first.name, second.name),
            [first, others @ ..] => format!("{} and {} more files", first.name, others.len()),
            [] => String::new(),
        };
        let mut notes =
            vec!["The files have no common time axis: the first sample of each file is at 0.".to_owned()];
        notes.extend(
            files.iter().filter_map(|file| Some(format!("{} is {}.", file.name, file.remark.as_ref()?))),
        );
        notes.extend(problem_note(files.iter().map(|file| file.problems).sum(), "the files"));
        for file in &mut files {
            notes.extend(add_call_samples(file)?);
        }
        let mut trace = Self::empty(title, notes);
        for FileThreads { name, threads, .. } in files {
            let starts = threads.iter().filter_map(|readable| start_of(&readable.thread.trace));
            let start = starts.min().unwrap_or_default();
            for thread in threads {
                trace.push(thread, Some(name.clone()), start)?;
            }
        }
        trace.finish()
    }

    fn finish(mut self) -> Result<Self, InternError> {
        let note = gaps(self.merged.gaps).map(|gaps| format!("Not covered: {gaps}."));
        self.notes.extend(note);
        self.folded = self.merged.trace.folded_stacks()?;
        Ok(self)
    }

    /// What is compared: functions of Node.js's own scripts are folded.
    pub fn compared(&self) -> Cow<'_, MergedThreads> {
        let Some(folded) = &self.folded else { return Cow::Borrowed(&self.merged) };
        let mut merged = self.merged.clone();
        merged.trace.replace_stacks(folded);
        Cow::Owned(merged)
    }

    fn empty(title: String, notes: Vec<String>) -> Self {
        Self {
            title,
            notes,
            merged: MergedThreads::default(),
            inferred: InferredNames::new(),
            snippets: Snippets::new(),
            threads: Vec::new(),
            folded: None,
        }
    }

    fn push(
        &mut self,
        readable: ReadableThread,
        file: Option<String>,
        start: Micros,
    ) -> Result<(), InternError> {
        let ReadableThread { mut thread, inferred, snippets } = readable;
        let interval = thread.trace.interval();
        let has_calls = thread.trace.calls().is_some();
        let recorded = thread.trace.samples().len() as u64;
        let with_waiting_times = usize::from(thread.trace.waiting().is_some());
        thread.trace.add_gc_frames();
        let split = thread.trace.add_waiting_frames();
        let entries = thread.trace.entries().cloned();
        thread.trace.set_entries(None);
        let merged = &mut self.merged;
        let first = merged.trace.samples().len();
        merged.add_labels(&thread.trace)?;
        thread.trace.set_labels(None);
        merged.weights.extend(thread.trace.weights());
        merged.gaps.include(thread.trace.gaps());
        merged.ranges.push(first..merged.weights.len());
        merged.interval = merged.interval.or(interval);
        merged.with_waiting_times += with_waiting_times;
        merged.recorded += recorded;
        merged.split.extend(split.into_iter().map(|index| first + index));
        if self.threads.is_empty() {
            merged.trace = thread.trace;
            self.inferred = inferred;
            self.snippets = snippets;
        } else {
            merged.trace.merge(&thread.trace)?;
            // The names of a function are the same in each thread, unless its script changed between two recordings.
            for (frame, name) in inferred {
                let frame = self.frame_in_merged(&thread.trace, frame)?;
                self.inferred.entry(frame).or_insert(name);
            }
            for (frame, snippet) in snippets {
                let frame = self.frame_in_merged(&thread.trace, frame)?;
                self.snippets.entry(frame).or_insert(snippet);
            }
        }
        let samples = first..self.merged.trace.samples().len();
        self.threads.push(ReportThread {
            name: thread.name,
            process: thread.process,
            file,
            interval,
            has_calls,
            samples,
            entries,
            start,
        });
        Ok(())
    }

    fn frame_in_merged(&mut self, trace: &Trace, frame: FrameId) -> Result<FrameId, InternError> {
        let frame = trace.frames()[frame];
        let merged = &mut self.merged.trace;
        let name = merged.name(&trace.names()[frame.name])?;
        let resource = frame.resource.map(|id| merged.resource(&trace.resources()[id])).transpose()?;
        merged.frame(selfprof_trace::Frame { name, resource, ..frame })
    }
}

/// When the time of the first sample begins.
fn start_of(trace: &Trace) -> Option<Micros> {
    let first = trace.samples().first()?;
    let weight = trace.weights().first().copied().unwrap_or_default();
    Some(first.timestamp.saturating_sub(weight))
}

/// Shows calls as samples with exact times, and what that means.
fn add_call_samples(file: &mut FileThreads) -> Result<Option<String>, InternError> {
    let mut has_calls = false;
    let mut is_truncated = false;
    for readable in &mut file.threads {
        let trace = &mut readable.thread.trace;
        if let Some(calls) = trace.calls() {
            has_calls = true;
            is_truncated |= calls.is_truncated();
        }
        trace.add_call_samples()?;
    }
    let note = format!(
        "{} has calls: each interval is the time from one entry or exit of a function to the next, which is exact.{} `selfprof top` has \
         the number of calls of each function.",
        file.name,
        if is_truncated { " It ends where the buffer was full." } else { "" },
    );
    Ok(has_calls.then_some(note))
}

fn problem_note(problems: u64, place: &str) -> Option<String> {
    match problems {
        0 => None,
        1 => Some(format!("1 problem in {place}")),
        total => Some(format!("{total} problems in {place}")),
    }
}

#[cfg(test)]
mod tests {
    use selfprof_formats::Thread;
    use selfprof_trace::{CallEvent, CallEventType, Calls, Frame, Sample, Stack};

    use super::*;

    /// A thread with samples in these functions, an interval of 1 ms, and a name for each function.
    fn thread(name: &str, start: u64, functions: &[&str]) -> ReadableThread {
        let mut trace = Trace::new();
        let mut inferred = InferredNames::new();
        for (index, function) in (0..).zip(functions) {
            let name = trace.name(function).unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            inferred.insert(frame, format!("{function}*"));
            let stack = trace.stack(Stack { parent: None, frame }).ok();
            trace.push_sample(Sample { timestamp: Micros(start + index * 1000), stack, marker: None });
        }
        ReadableThread { thread: Thread::named(name, trace), inferred, snippets: Snippets::new() }
    }

    fn file(name: &str, problems: u64, threads: Vec<ReadableThread>) -> FileThreads {
        FileThreads { name: name.to_owned(), threads, problems, remark: None }
    }

    /// The functions of a thread's samples, with their inferred names.
    fn functions(trace: &ReportTrace, thread: usize) -> Vec<&str> {
        let samples = &trace.merged.trace.samples()[trace.threads[thread].samples.clone()];
        let frame = |sample: &Sample| trace.merged.trace.stacks()[sample.stack.unwrap()].frame;
        samples.iter().map(|sample| &*trace.inferred[&frame(sample)]).collect()
    }

    #[test]
    fn the_threads_of_a_file_share_their_functions() {
        let threads = vec![thread("main-thread", 5000, &["a", "b"]), thread("worker-1", 0, &["c", "b", "a"])];
        let trace = ReportTrace::of(file("x.json", 2, threads)).unwrap();
        assert_eq!(trace.merged.trace.frames().len(), 3);
        assert_eq!(functions(&trace, 0), ["a*", "b*"]);
        assert_eq!(functions(&trace, 1), ["c*", "b*", "a*"]);
        assert_eq!(trace.notes, ["2 problems in the file"]);
        assert!(trace.threads.iter().all(|thread| thread.start == Micros::ZERO && thread.file.is_none()));
    }

    #[test]
    fn files_together_begin_at_0() {
        let first = file("x.json", 0, vec![thread("a", 7000, &["a", "b"]), thread("b", 9000, &["a", "b"])]);
        let second = file("y.json", 1, vec![thread("c", 500_000, &["a", "b"])]);
        let trace = ReportTrace::together(vec![first, second]).unwrap();
        let starts: Vec<u64> = trace.threads.iter().map(|thread| thread.start.0).collect();
        assert_eq!(starts, [6000, 6000, 499_000]);
        assert_eq!(trace.title, "x.json, y.json");
        assert_eq!(trace.threads[2].file.as_deref(), Some("y.json"));
        assert_eq!(trace.notes.len(), 2);
    }

    #[test]
    fn calls_are_samples_with_exact_times() {
        let mut readable = thread("main-thread", 0, &["a"]);
        let trace = &mut readable.thread.trace;
        trace.clear_samples();
        let frame = trace.frames().iter().next().unwrap().0;
        let mut calls = Calls::new(Micros(10));
        for (event_type, time) in [(CallEventType::Enter, 20), (CallEventType::Exit, 25)] {
            calls.push(CallEvent { event_type, frame, timestamp: Micros(time) }).unwrap();
        }
        calls.finish(Micros(5000), true);
        trace.set_calls(Some(calls));
        let alone = ReportTrace::of(file("x.json", 0, vec![readable.clone()])).unwrap();
        assert_eq!(alone.merged.weights, [0, 10, 5, 4975].map(Micros));
        assert!(alone.notes[0].contains("x.json has calls: each interval is the time"), "{:?}", alone.notes);
        assert!(alone.notes[0].contains("It ends where the buffer was full."), "{:?}", alone.notes);
        let together =
            ReportTrace::together(vec![file("x.json", 0, vec![readable]), file("y.json", 0, Vec::new())])
                .unwrap();
        assert_eq!((together.threads[0].start, together.notes.len()), (Micros(10), 2));
    }

    #[test]
    fn a_trace_may_have_no_threads() {
        assert!(ReportTrace::of(file("x.json", 0, Vec::new())).unwrap().threads.is_empty());
        assert!(ReportTrace::together(Vec::new()).unwrap().threads.is_empty());
    }
}
