//! Round trips through every format, and what each format cannot hold.

use proptest::prelude::*;
use selfprof_trace::testing::{parts, spelled, trace};
use selfprof_trace::{Entries, Frame, Marker, Sample, Stack, WaitingPoint, WaitingTimes};

use super::*;
use crate::thread::Process;
use crate::{Hint, Loss, ReadOptions, losses, read, w3c};

const MARKERS: &str = include_str!("../../fixtures/w3c/chromium-156-markers-isolated.json");

fn written(format: Format, threads: &[Thread], gzip: bool) -> Vec<u8> {
    let mut out = Vec::new();
    write(format, threads, &mut out, WriteOptions { gzip }).unwrap();
    out
}

/// Writes and reads the threads, detecting the format.
#[track_caller]
fn back(format: Format, threads: &[Thread], gzip: bool) -> Vec<Thread> {
    let profile =
        read(&written(format, threads, gzip)[..], Hint::default(), &ReadOptions::default()).unwrap();
    assert_eq!(profile.format, format);
    let problems: Vec<_> = profile.threads.iter().flat_map(|(_, problems)| problems.list()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    profile.threads.into_iter().map(|(thread, _)| thread).collect()
}

/// The trace with changed samples, and without unused table entries.
fn with_samples(trace: &Trace, change: impl Fn(&Sample) -> Sample) -> Trace {
    let mut changed = trace.clone();
    for sample in changed.drain_samples(usize::MAX) {
        changed.push_sample(change(&sample));
    }
    changed.narrowed()
}

/// The trace with its functions renamed, because some names have a meaning in some formats.
fn renamed(trace: &Trace, name: impl Fn(&str, &Frame) -> String) -> Trace {
    let mut renamed = Trace::new();
    let frames: Vec<_> = trace
        .frames()
        .iter()
        .map(|(_, frame)| {
            let name = renamed.name(&name(&trace.names()[frame.name], &frame)).unwrap();
            let resource = frame.resource.map(|id| renamed.resource(&trace.resources()[id]).unwrap());
            renamed.frame(Frame { name, resource, ..frame }).unwrap()
        })
        .collect();
    let mut stacks = Vec::new();
    for (_, Stack { parent, frame }) in trace.stacks().iter() {
        let parent = parent.map(|id| stacks[selfprof_trace::StackId::index(id)]);
        stacks.push(renamed.stack(Stack { parent, frame: frames[frame.index()] }).unwrap());
    }
    for sample in trace.samples() {
        renamed.push_sample(Sample { stack: sample.stack.map(|id| stacks[id.index()]), ..*sample });
    }
    renamed.set_entries(trace.entries().cloned());
    renamed
}

proptest! {
    #[test]
    fn a_w3c_trace_round_trips(trace in trace(), gzip in any::<bool>()) {
        let back = back(Format::W3c, &[Thread::main(trace.clone())], gzip);
        prop_assert_eq!(parts(&back[0].trace), parts(&trace));
    }

    #[test]
    fn threads_of_w3c_traces_round_trip(traces in prop::collection::vec(trace(), 1..4), pid in any::<u32>(), tid in any::<u64>(), text in ".*", gzip in any::<bool>()) {
        let process = Some(Process { pid, tid, command: text.clone() });
        let threads: Vec<Thread> = traces
            .into_iter()
            .zip([Thread::MAIN, "worker-1", &text])
            .enumerate()
            .map(|(index, (trace, name))| Thread { process: process.clone().filter(|_| index != 1), ..Thread::named(name, trace) })
            .collect();
        let back = back(Format::W3c, &threads, gzip);
        prop_assert_eq!(back.len(), threads.len());
        for (back, thread) in back.iter().zip(&threads) {
            prop_assert_eq!((&back.name, &back.process), (&thread.name, &thread.process));
            prop_assert_eq!(parts(&back.trace), parts(&thread.trace));
        }
        // Programs that know only the standard's members read the main thread.
        let (main, problems) = w3c::read(&written(Format::W3c, &threads, gzip)[..]).unwrap();
        prop_assert!(problems.is_empty());
        prop_assert_eq!(parts(&main), parts(&threads[0].trace));
    }

    #[test]
    fn threads_without_markers_round_trip_in_the_explainers_format(first in trace(), second in trace(), gzip in any::<bool>()) {
        // The strings cannot represent a column without a line, nor names that look like a location.
        let clean = |trace: &Trace| {
            let trace = with_samples(trace, |sample| Sample { marker: None, ..*sample });
            renamed(&trace, |name, _| name.replace('@', "_"))
        };
        let threads = [("main-thread", clean(&first)), ("worker-7", clean(&second))]
            .map(|(name, trace)| Thread::named(name, trace));
        let back = back(Format::Explainer, &threads, gzip);
        prop_assert_eq!(back.len(), 2);
        for (back, thread) in back.iter().zip(&threads) {
            prop_assert_eq!(&back.name, &thread.name);
            let without_lonely_columns = |trace: &Trace| {
                spelled(trace)
                    .into_iter()
                    .map(|(time, _, path)| (time, path.iter().map(|f| f.split(" None Some(").next().unwrap().to_owned()).collect()))
                    .map(|(time, path): (_, Vec<String>)| (time, path.iter().map(|f| f.trim_end_matches(" None None").to_owned()).collect::<Vec<_>>()))
                    .collect::<Vec<_>>()
            };
            prop_assert_eq!(without_lonely_columns(&back.trace), without_lonely_columns(&thread.trace));
            let entries = |trace: &Trace| trace.entries().map_or(vec![], |entries| entries.list().to_vec());
            prop_assert_eq!(entries(&back.trace), entries(&thread.trace));
        }
    }

    #[test]
    fn a_cpu_profile_round_trips_with_collections_and_with_markers_of_samples_without_a_stack(trace in trace()) {
        // A function without a script could have the name of a state, and an empty URL means no script.
        let trace = renamed(&trace, |name, frame| if frame.resource.is_none() { format!("_{name}") } else { name.to_owned() });
        let trace = with_samples(&trace, |sample| Sample { marker: sample.marker.filter(|&marker| marker == Marker::Gc || sample.stack.is_none()), ..*sample });
        let back = back(Format::CpuProfile, &[Thread::main(trace.clone())], false);
        prop_assert_eq!(spelled(&back[0].trace), spelled(&trace));
    }

    #[test]
    fn every_trace_can_be_written_in_every_format(first in trace(), second in trace(), gzip in any::<bool>()) {
        let threads = [first, second].map(|trace| Thread::named("a\"b", trace));
        for format in Format::ALL.into_iter().filter(|format| *format != Format::Explainer) {
            for threads in [&threads[..], &threads[..1], &[]] {
                let bytes = written(format, threads, gzip);
                if !gzip && !matches!(format, Format::Pprof | Format::Otlp | Format::Collapsed) {
                    let _: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
                }
            }
        }
    }
}

#[test]
fn write_only_formats_are_detected_and_rejected() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let threads = [Thread::main(trace)];
    for format in Format::ALL.into_iter().filter(|format| !Format::READABLE.contains(format)) {
        let name = format!("a{}", format.extensions()[0]);
        let hint = Hint { name: Some(&name), ..Hint::default() };
        let error = read(&written(format, &threads, true)[..], hint, &ReadOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("this is {}, which selfprof can write but not read", format.noun())
        );
    }
}

#[test]
fn losses_are_listed() {
    let mut trace = Trace::new();
    let name = trace.name("f").unwrap();
    let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
    let stack = Some(trace.stack(Stack { parent: None, frame }).unwrap());
    // Collections are written as a function.
    for (stack, marker) in [
        (stack, Some(Marker::Script)),
        (stack, Some(Marker::Gc)),
        (None, Some(Marker::Gc)),
        (None, Some(Marker::Paint)),
        (stack, None),
        (None, None),
    ] {
        trace.push_sample(Sample { timestamp: Micros(0), stack, marker });
    }
    let mut entries = Entries::new();
    entries.count_dropped(3);
    trace.set_entries(Some(entries));
    let worker = Thread::named("worker-1", Trace::new());
    let threads = [Thread::main(trace), worker];
    #[track_caller]
    fn check(format: Format, threads: &[Thread], expected: &[&str]) {
        let losses: Vec<String> = losses(format, threads).iter().map(Loss::to_string).collect();
        assert_eq!(losses, expected);
    }
    let dropped = "the number of dropped marks and measures (3)";
    check(Format::W3c, &threads, &[]);
    check(Format::Explainer, &threads, &["the markers of 2 samples", dropped]);
    check(Format::CpuProfile, &threads, &["the thread worker-1", "the marker of 1 sample", dropped]);
    check(Format::Chrome, &threads, &["the marker of 1 sample", dropped]);
    check(Format::Firefox, &threads, &[dropped]);
    check(Format::Speedscope, &threads, &["the marker of 1 sample", dropped]);
    check(Format::Pprof, &threads, &["the times of samples", "1 idle sample", dropped]);
    check(
        Format::Collapsed,
        &threads,
        &["the thread worker-1", "the times of samples", "the marker of 1 sample", "1 idle sample", dropped],
    );
    check(Format::Otlp, &threads, &[dropped]);
    for format in Format::ALL {
        check(format, &[], &[]);
    }
}

/// Splitting off waiting makes the times between samples shorter, but it changes neither the interval nor what is a
/// pause.
#[test]
fn all_formats_have_the_time_of_late_samples() {
    let mut trace = Trace::new();
    let [contended, late] = ["contended", "late"].map(|name| {
        let name = trace.name(name).unwrap();
        let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
        trace.stack(Stack { parent: None, frame }).ok()
    });
    let mut waiting = WaitingTimes::default();
    for index in 0..=60 {
        let timestamp = Micros(index * 1000);
        trace.push_sample(Sample { timestamp, stack: contended, marker: None });
        waiting.push(WaitingPoint { timestamp, waited: Micros(index * 600) });
    }
    for index in 1..=20 {
        trace.push_sample(Sample { timestamp: Micros(60_000 + index * 80_000), stack: late, marker: None });
    }
    trace.set_waiting(Some(waiting));
    let threads = [Thread::main(trace)];
    let json =
        |format| -> serde_json::Value { serde_json::from_slice(&written(format, &threads, false)).unwrap() };
    let sum = |values: &serde_json::Value| -> f64 {
        values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum()
    };

    let collapsed = String::from_utf8(written(Format::Collapsed, &threads, false)).unwrap();
    assert_eq!(collapsed, "contended 25000\ncontended;(waiting) 36000\nlate 1600000\n");
    let firefox = json(Format::Firefox);
    assert_eq!(firefox["meta"]["interval"], 1.0);
    assert_eq!(sum(&firefox["threads"][0]["samples"]["weight"]), 1661.0);
    let speedscope = json(Format::Speedscope);
    assert!(!speedscope["profiles"][0]["samples"].as_array().unwrap().contains(&serde_json::json!([])));
    assert_eq!(sum(&speedscope["profiles"][0]["weights"]), 1_661_000.0);
    for format in [Format::CpuProfile, Format::Chrome] {
        let text = String::from_utf8(written(format, &threads, false)).unwrap();
        // The deltas of the late samples.
        assert!(text.matches("80000,").count() >= 19, "{text}");
    }
}
