//! Reading profiles, and writing them in every format.

use std::error::Error;
use std::iter::successors;

use selfprof_formats::{Format, Hint, Profile, ReadOptions, Thread, WriteOptions, losses, read, write};
use selfprof_trace::foreign::Limits;
use serde::de::IgnoredAny;

use crate::comparable::{assert_sound, entries, spelled};

/// Limits that keep inputs fast.
pub const OPTIONS: ReadOptions = ReadOptions {
    max_bytes: 1 << 20,
    limits: Limits {
        resources: 10_000,
        frames: 10_000,
        stacks: 10_000,
        samples: 10_000,
        entries: 10_000,
        text_bytes: 1 << 20,
    },
};

/// The first bytes of gzip.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// A W3C trace.
pub fn w3c(input: &[u8]) {
    of_format(Format::W3c, input);
}

/// A profile in the explainer's format.
pub fn explainer(input: &[u8]) {
    of_format(Format::Explainer, input);
}

/// A V8 CPU profile.
pub fn cpuprofile(input: &[u8]) {
    of_format(Format::CpuProfile, input);
}

/// Chromium's trace events.
pub fn chrome(input: &[u8]) {
    of_message(Format::Chrome, input);
}

/// A Firefox Profiler profile.
pub fn firefox(input: &[u8]) {
    of_message(Format::Firefox, input);
}

/// A speedscope profile.
pub fn speedscope(input: &[u8]) {
    of_message(Format::Speedscope, input);
}

/// A pprof profile.
pub fn pprof(input: &[u8]) {
    of_message(Format::Pprof, input);
}

/// An OTLP profile.
pub fn otlp(input: &[u8]) {
    of_message(Format::Otlp, input);
}

/// A profile in any format. The first byte selects the file name.
pub fn detection(input: &[u8]) {
    const NAMES: [Option<&str>; 6] =
        [None, Some("a.json"), Some("a.cpuprofile"), Some("a.explainer.json.gz"), Some("a.pb"), Some("")];
    let Some((&first, text)) = input.split_first() else { return };
    let name = NAMES[usize::from(first) % NAMES.len()];
    let Some(profile) = checked(read(text, Hint { format: None, name }, &OPTIONS)) else { return };
    assert!(Format::READABLE.contains(&profile.format));
    // Naming the detected format gives the same profile.
    let hint = Hint { format: Some(profile.format), name: None };
    let Some(again) = checked(read(text, hint, &OPTIONS)) else {
        panic!("the detected format is not readable")
    };
    assert_eq!(compared(&again), compared(&profile));
}

fn of_format(format: Format, input: &[u8]) {
    let hint = Hint { format: Some(format), name: None };
    let Some(profile) = checked(read(input, hint, &OPTIONS)) else { return };
    assert_eq!(profile.format, format);
    if !input.starts_with(GZIP) {
        // The readers accept control characters in strings, which JSON does not allow.
        let lenient: Vec<u8> = input.iter().map(|byte| if *byte < b' ' { b' ' } else { *byte }).collect();
        // Several W3C traces may follow each other, and those that are broken are reported.
        let is_json = serde_json::from_slice::<IgnoredAny>(&lenient).is_ok();
        assert!(is_json || format == Format::W3c || is_decoded(input), "text that is not JSON was read");
    }
    for (thread, problems) in &profile.threads {
        assert_sound(&thread.trace);
        assert!(problems.list().len() as u64 <= problems.total());
        assert!(problems.list().iter().all(|problem| !problem.to_string().is_empty()));
    }
    let threads = threads(profile);
    for map in threads.iter().flat_map(|thread| &thread.source_maps) {
        assert!(serde_json::from_str::<IgnoredAny>(&map.json).is_ok(), "a source map is not JSON");
    }
    assert_written(&threads);
    assert_round_trips(format, &threads);
}

/// Whether the text is in UTF-16, or begins with a byte order mark.
fn is_decoded(input: &[u8]) -> bool {
    matches!(input, [0xef, 0xbb, 0xbf, ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, ..] | [_, 0, ..])
}

/// Not all that these formats hold is read, so they do not round-trip.
fn of_message(format: Format, input: &[u8]) {
    let hint = Hint { format: Some(format), name: None };
    let Some(profile) = checked(read(input, hint, &OPTIONS)) else { return };
    let samples: usize = profile.threads.iter().map(|(thread, _)| thread.trace.samples().len()).sum();
    assert!(samples <= OPTIONS.limits.samples, "{samples} samples");
    for (thread, problems) in &profile.threads {
        assert_sound(&thread.trace);
        assert!(problems.list().iter().all(|problem| !problem.to_string().is_empty()));
    }
    assert_written(&threads(profile));
}

/// The value; an error must have a message, and so must its sources.
pub fn checked<T, E: Error + 'static>(result: Result<T, E>) -> Option<T> {
    result
        .inspect_err(|error| {
            let first: &(dyn Error + 'static) = error;
            let causes = successors(Some(first), |&cause| cause.source());
            causes.for_each(|cause| assert!(!cause.to_string().is_empty()));
        })
        .ok()
}

/// A profile in a comparable form.
pub fn compared(profile: &Profile) -> impl PartialEq + std::fmt::Debug {
    let thread = |(thread, problems): &(Thread, selfprof_trace::foreign::Problems)| {
        (thread.name.clone(), spelled(&thread.trace), entries(&thread.trace), problems.total())
    };
    (profile.format, profile.threads.iter().map(thread).collect::<Vec<_>>())
}

fn threads(profile: Profile) -> Vec<Thread> {
    profile.threads.into_iter().map(|(thread, _)| thread).collect()
}

/// The threads can be written in every format, and JSON formats are valid JSON.
#[track_caller]
pub fn assert_written(threads: &[Thread]) {
    for format in Format::ALL {
        let out = written(format, threads);
        if !matches!(format, Format::Pprof | Format::Collapsed | Format::Otlp) {
            assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok(), "{format} is not JSON");
        }
        assert!(losses(format, threads).iter().all(|loss| !loss.to_string().is_empty()));
    }
}

/// The threads written in a format.
#[track_caller]
pub fn written(format: Format, threads: &[Thread]) -> Vec<u8> {
    let mut out = Vec::new();
    let result = write(format, threads, &mut out, WriteOptions::default());
    assert!(result.is_ok(), "{format}: {result:?}");
    out
}

/// Reads a written profile back; its format must be detected, and there must be no problems.
#[track_caller]
pub fn back(format: Format, text: &[u8]) -> Vec<Thread> {
    let profile = match read(text, Hint::default(), &OPTIONS) {
        Ok(profile) => profile,
        Err(error) => panic!("{format} cannot be read back: {error}, {:?}", error.source()),
    };
    assert_eq!(profile.format, format);
    for (thread, problems) in &profile.threads {
        assert!(problems.is_empty(), "{}: {:?}", thread.name, problems.list());
    }
    threads(profile)
}

/// A profile in its own format round-trips: the times of samples are equal, and writing again gives the same bytes.
#[track_caller]
fn assert_round_trips(format: Format, threads: &[Thread]) {
    let first = written(format, threads);
    // The output may be longer than the input.
    if first.len() as u64 > OPTIONS.max_bytes {
        return;
    }
    let second = back(format, &first);
    assert_eq!(second.len(), threads.len());
    for (before, after) in threads.iter().zip(&second) {
        assert_eq!(before.name, after.name);
        let times = |thread: &Thread| thread.trace.samples().iter().map(|s| s.timestamp).collect::<Vec<_>>();
        assert_eq!(times(before), times(after));
    }
    let again = written(format, &second);
    if format == Format::W3c {
        assert_eq!(again, first);
    } else {
        // Names with a meaning in the format, such as `(idle)`, only change in the first round trip.
        assert_eq!(written(format, &back(format, &again)), again);
    }
}
