//! Invariants of traces, and traces in a comparable form.

use selfprof_trace::comparison::Comparison;
use selfprof_trace::summary::Summary;
use selfprof_trace::{
    CallEvent, CallEventType, Clock, Entry, Frame, Marker, MergedThreads, Micros, Sample, StackId, Trace,
};

/// A function: its name, URL, line and column.
pub type Function = (String, Option<String>, u32, u32);

/// A sample with its stack spelled out.
pub type Spelled = (Micros, Option<Marker>, Vec<Function>);

/// Panics if the trace violates an invariant, or cannot be summarized.
#[track_caller]
pub fn assert_sound(trace: &Trace) {
    for (_, frame) in trace.frames().iter() {
        assert!(trace.names().contains(frame.name));
        assert!(frame.resource.is_none_or(|id| trace.resources().contains(id)));
    }
    for (id, stack) in trace.stacks().iter() {
        assert!(stack.parent < Some(id) && trace.frames().contains(stack.frame));
    }
    assert!(trace.samples().is_sorted_by_key(|sample| sample.timestamp));
    assert!(trace.samples().iter().all(|s| s.stack.is_none_or(|id| trace.stacks().contains(id))));
    if let Some(entries) = trace.entries() {
        assert!(entries.list().is_sorted_by_key(|entry| entry.start_time));
        assert!(
            entries.list().iter().all(|entry| entry.is_possible() && entries.names().contains(entry.name))
        );
    }
    let summary = Summary::of(trace);
    assert_eq!(summary.samples(), trace.samples().len() as u64);
    // A trace does not differ from itself.
    assert!(Comparison::of(trace, trace).functions.iter().all(|function| !function.is_significant()));
    assert_eq!(spelled(&trace.narrowed()), spelled(trace));
    assert_sound_waiting(trace);
    assert_sound_calls(trace);
}

/// Panics if calls do not nest, or if their samples lose or invent time.
#[track_caller]
fn assert_sound_calls(trace: &Trace) {
    let Some(calls) = trace.calls() else { return };
    assert!(calls.start() <= calls.end());
    let times = || calls.events().iter().map(|event| event.timestamp);
    assert!(times().is_sorted() && times().all(|time| calls.start() <= time && time <= calls.end()));
    let mut running = calls.running_at_start();
    for event in calls.events() {
        if event.event_type.begins() {
            running.push(event.frame);
        } else {
            assert_eq!(running.pop(), Some(event.frame));
        }
    }
    assert_eq!(running, calls.running_at_end());
    assert!(calls.spans().iter().all(|span| span.start <= span.end));
    let mut shown = trace.clone();
    assert!(shown.add_call_samples().is_ok());
    if trace.samples().is_empty() {
        let whole = shown.weights().into_iter().fold(Micros::ZERO, Micros::saturating_add);
        assert_eq!(whole, calls.end().saturating_sub(calls.start()));
    }
}

/// An event of a call with its function spelled out.
type SpelledEvent = (CallEventType, Function, Micros);

/// The calls, when they began and ended, and whether some were lost; `None` if the trace has none.
pub fn calls(trace: &Trace) -> Option<(Vec<SpelledEvent>, [Micros; 2], bool)> {
    let calls = trace.calls()?;
    let spell = |event: &CallEvent| {
        (event.event_type, function(trace, &trace.frames()[event.frame]), event.timestamp)
    };
    Some((calls.events().iter().map(spell).collect(), [calls.start(), calls.end()], calls.is_truncated()))
}

/// Panics if time is lost or invented when waiting is told apart.
#[track_caller]
fn assert_sound_waiting(trace: &Trace) {
    let times = |clock| {
        let merged = MergedThreads::by(clock, [trace]).unwrap_or_default();
        let summary = Summary::of_merged(&merged);
        let left_out = merged.left_out.unwrap_or_default();
        assert!(merged.trace.samples().is_sorted_by_key(|sample| sample.timestamp));
        (summary.busy.time.saturating_add(left_out), summary.idle.time)
    };
    assert_eq!(times(Clock::WaitingApart), times(Clock::Wall));
    assert_eq!(times(Clock::Cpu), times(Clock::Wall));
}

/// The samples with their stacks spelled out, innermost function first, independent of ids.
pub fn spelled(trace: &Trace) -> Vec<Spelled> {
    let path = |id: StackId| trace.path(id).map(|id| function(trace, &trace.frames()[id])).collect();
    let spell = |s: &Sample| (s.timestamp, s.marker, s.stack.map(path).unwrap_or_default());
    trace.samples().iter().map(spell).collect()
}

fn function(trace: &Trace, frame: &Frame) -> Function {
    let Frame { name, resource, line, column } = *frame;
    let url = resource.map(|id| trace.resources()[id].to_owned());
    (trace.names()[name].to_owned(), url, line.map_or(0, Into::into), column.map_or(0, Into::into))
}

/// The marks and measures with their names, and the number of dropped ones; `None` if the trace has no list of them.
pub fn entries(trace: &Trace) -> Option<(Vec<(String, Entry)>, u64)> {
    let entries = trace.entries()?;
    let named = |entry: &Entry| (entries.names()[entry.name].to_owned(), *entry);
    Some((entries.list().iter().map(named).collect(), entries.dropped()))
}
