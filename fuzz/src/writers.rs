//! Writing random traces.

use std::num::NonZeroU32;

use arbitrary::{Result, Unstructured};
use selfprof_formats::{Format, Thread};
use selfprof_trace::{
    CallEvent, CallEventType, Calls, Entries, Entry, EntryType, Frame, FrameId, Marker, Micros, Millis,
    Sample, Stack, StackId, Trace,
};

use crate::comparable::{Spelled, assert_sound, calls, entries, spelled};
use crate::profiles::{OPTIONS, assert_written, back, written};

/// Two random threads can be written in every format, and readable formats round-trip.
pub fn writers(input: &[u8]) {
    let mut bytes = Unstructured::new(input);
    let (Ok(main), Ok(worker)) = (trace(&mut bytes), trace(&mut bytes)) else { return };
    assert_sound(&main);
    assert_sound(&worker);
    let threads = [Thread::main(main), Thread::named("worker-1", worker)];
    assert_written(&threads);
    assert_w3c_round_trips(&threads[..1]);
    assert_explainer_round_trips(&threads);
    assert_cpu_profile_round_trips(&threads[..1]);
}

#[track_caller]
fn through(format: Format, threads: &[Thread]) -> Option<Vec<Thread>> {
    let text = written(format, threads);
    (text.len() as u64 <= OPTIONS.max_bytes).then(|| back(format, &text))
}

fn assert_w3c_round_trips(threads: &[Thread]) {
    let Some(back) = through(Format::W3c, threads) else { return };
    assert_eq!(spelled(&back[0].trace), spelled(&threads[0].trace));
    let shown = |trace| {
        let (list, dropped) = entries(trace)?;
        let shown =
            |(name, entry): (String, Entry)| (name, entry.entry_type, entry.start_time, entry.duration);
        Some((list.into_iter().map(shown).collect::<Vec<_>>(), dropped))
    };
    assert_eq!(shown(&back[0].trace), shown(&threads[0].trace));
    assert_eq!(calls(&back[0].trace), calls(&threads[0].trace));
}

/// Compares only times and numbers: functions are strings in this format, and names may look like locations. The
/// garbage collector is a function in it.
fn assert_explainer_round_trips(threads: &[Thread]) {
    let Some(back) = through(Format::Explainer, threads) else { return };
    let shape = |(time, _, path): Spelled| (time, path.len());
    for (back, thread) in back.iter().zip(threads) {
        assert_eq!(back.name, thread.name);
        let mut written = thread.trace.clone();
        let _ = written.add_call_samples();
        written.add_gc_frames();
        let shapes = |trace| spelled(trace).into_iter().map(shape).collect::<Vec<_>>();
        assert_eq!(shapes(&back.trace), shapes(&written));
        let count = |trace: &Trace| trace.entries().map_or(0, |entries| entries.list().len());
        assert_eq!(count(&back.trace), count(&thread.trace));
    }
}

/// Compares times, and functions with scripts: functions without a script may be taken for states, such as `(idle)`.
fn assert_cpu_profile_round_trips(threads: &[Thread]) {
    let Some(back) = through(Format::CpuProfile, threads) else { return };
    let times = |trace: &Trace| trace.samples().iter().map(|sample| sample.timestamp).collect::<Vec<_>>();
    let mut shown = threads[0].trace.clone();
    let _ = shown.add_call_samples();
    assert_eq!(times(&back[0].trace), times(&shown));
    for (after, before) in spelled(&back[0].trace).iter().zip(spelled(&shown)) {
        if before.2.iter().all(|(_, url, ..)| url.as_deref().is_some_and(|url| !url.is_empty())) {
            assert_eq!(after.2, before.2);
            assert!(!before.2.is_empty() || after.1 == before.1);
        }
    }
}

/// A trace with a few functions and samples.
fn trace(bytes: &mut Unstructured<'_>) -> Result<Trace> {
    let mut trace = Trace::new();
    for _ in 0..bytes.int_in_range(0..=6)? {
        let name = trace.name(&text(bytes)?).ok();
        let resource = if bytes.arbitrary()? { trace.resource(&text(bytes)?).ok() } else { None };
        let Some(name) = name else { continue };
        // Functions without a script have no position.
        let position = [number(bytes)?, number(bytes)?];
        let [line, column] = position.map(|number| number.filter(|_| resource.is_some()));
        let _ = trace.frame(Frame { name, resource, line, column });
    }
    let frames = trace.frames().len();
    for _ in 0..if frames > 0 { bytes.int_in_range(0..=12)? } else { 0 } {
        let frame = FrameId::from_index(bytes.choose_index(frames)?);
        let parent = stack(bytes, &trace)?;
        let _ = frame.map(|frame| trace.stack(Stack { parent, frame }));
    }
    if frames > 0 && bytes.ratio(1, 3)? {
        trace.set_calls(Some(random_calls(bytes, frames)?));
        // Either is recorded.
        return Ok(trace);
    }
    let mut timestamp = Micros::ZERO;
    for _ in 0..bytes.int_in_range(0..=20)? {
        let since = if bytes.ratio(1, 9)? {
            bytes.arbitrary::<u32>()? << 8
        } else {
            bytes.arbitrary::<u16>()?.into()
        };
        timestamp = timestamp.saturating_add(Micros(since.into()));
        let stack = stack(bytes, &trace)?;
        trace.push_sample(Sample {
            timestamp,
            stack,
            marker: Marker::from_index(bytes.int_in_range(0..=9)?),
        });
    }
    if bytes.arbitrary()? {
        trace.set_entries(Some(marks_and_measures(bytes)?));
    }
    Ok(trace)
}

fn random_calls(bytes: &mut Unstructured<'_>, frames: usize) -> Result<Calls> {
    let mut timestamp = Micros(bytes.arbitrary::<u16>()?.into());
    let mut calls = Calls::new(timestamp);
    for _ in 0..bytes.int_in_range(0..=20)? {
        timestamp = timestamp.saturating_add(Micros(bytes.arbitrary::<u8>()?.into()));
        let Some(frame) = FrameId::from_index(bytes.choose_index(frames)?) else { continue };
        let event_type = *bytes.choose(&CallEventType::ALL)?;
        let _ = calls.push(CallEvent { event_type, frame, timestamp });
    }
    calls.finish(timestamp.saturating_add(Micros(bytes.arbitrary::<u8>()?.into())), bytes.arbitrary()?);
    Ok(calls)
}

fn marks_and_measures(bytes: &mut Unstructured<'_>) -> Result<Entries> {
    let mut entries = Entries::new();
    for _ in 0..bytes.int_in_range(0..=6)? {
        let (name, is_mark) = (entries.name(&text(bytes)?), bytes.arbitrary()?);
        let entry_type = if is_mark { EntryType::Mark } else { EntryType::Measure };
        let times = (Millis::new(bytes.arbitrary()?), Millis::new(bytes.arbitrary()?));
        let (Ok(name), (Some(start_time), Some(duration))) = (name, times) else { continue };
        let duration = if is_mark { Millis::ZERO } else { duration };
        let entry = Entry { entry_type, name, start_time, duration };
        if entry.is_possible() {
            let _ = entries.push(entry);
        }
    }
    entries.count_dropped(bytes.int_in_range(0..=3)?);
    entries.sort();
    Ok(entries)
}

fn stack(bytes: &mut Unstructured<'_>, trace: &Trace) -> Result<Option<StackId>> {
    let count = trace.stacks().len();
    if count == 0 { Ok(None) } else { Ok(StackId::from_index(bytes.int_in_range(0..=count)?)) }
        .map(|id| id.filter(|&id| trace.stacks().contains(id)))
}

fn number(bytes: &mut Unstructured<'_>) -> Result<Option<NonZeroU32>> {
    Ok(if bytes.ratio(1, 9)? {
        NonZeroU32::new(bytes.arbitrary()?)
    } else {
        NonZeroU32::new(bytes.int_in_range(0..=3)?)
    })
}

/// A short text, often one that means something in a format.
fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    const KNOWN: [&str; 12] = [
        "f",
        "",
        "(root)",
        "(idle)",
        "(program)",
        "(garbage collector)",
        "(anonymous)",
        "(layout)",
        "f @ a.js:1:2",
        "a.js:1",
        "file:///a.js",
        "a;b\n\"\u{0}\u{2028}",
    ];
    if bytes.ratio(1, 3)? {
        let length = bytes.int_in_range(0..=12_usize)?.min(bytes.len());
        Ok(String::from_utf8_lossy(bytes.bytes(length)?).into_owned())
    } else {
        Ok((*bytes.choose(&KNOWN)?).to_owned())
    }
}
