//! Readers of profiles, and all writers of what they read.

use std::error::Error;
use std::iter::successors;

use selfprof_formats::{Format, Hint, Profile, ReadOptions, Thread, WriteOptions, losses, read, write};
use selfprof_trace::foreign::Limits;
use serde::de::IgnoredAny;

use crate::form::{assert_sound, entries, spelled};

/// As much is read as keeps an input fast.
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

/// A trace of the W3C's shape.
pub fn w3c(input: &[u8]) {
    of_format(Format::W3c, input);
}

/// A profile of the explainer's.
pub fn explainer(input: &[u8]) {
    of_format(Format::Explainer, input);
}

/// A CPU profile of V8.
pub fn cpuprofile(input: &[u8]) {
    of_format(Format::CpuProfile, input);
}

/// A profile of any format, whose name the first byte chooses.
pub fn recognition(input: &[u8]) {
    const NAMES: [Option<&str>; 6] =
        [None, Some("a.json"), Some("a.cpuprofile"), Some("a.explainer.json.gz"), Some("a.pb"), Some("")];
    let Some((&first, text)) = input.split_first() else { return };
    let name = NAMES[usize::from(first) % NAMES.len()];
    let Some(profile) = told(read(text, Hint { format: None, name }, &OPTIONS)) else { return };
    assert!(Format::READABLE.contains(&profile.format));
    // What is recognised is what it is said to be.
    let said = Hint { format: Some(profile.format), name: None };
    let Some(again) = told(read(text, said, &OPTIONS)) else { panic!("recognised and not read") };
    assert_eq!(compared(&again), compared(&profile));
}

fn of_format(format: Format, input: &[u8]) {
    let hint = Hint { format: Some(format), name: None };
    let Some(profile) = told(read(input, hint, &OPTIONS)) else { return };
    assert_eq!(profile.format, format);
    if !input.starts_with(GZIP) {
        // Strings are read as bytes, with control characters in them as they are, which is more than JSON allows.
        let lenient: Vec<u8> = input.iter().map(|byte| if *byte < b' ' { b' ' } else { *byte }).collect();
        let is_json = serde_json::from_slice::<IgnoredAny>(&lenient).is_ok();
        assert!(is_json, "this is not JSON, and was read as such");
    }
    for (thread, problems) in &profile.threads {
        assert_sound(&thread.trace);
        assert!(problems.list().len() as u64 <= problems.total());
        assert!(problems.list().iter().all(|problem| !problem.to_string().is_empty()));
    }
    let threads = threads(profile);
    assert_written(&threads);
    assert_settles(format, &threads);
}

/// What was read; of what was not, the reasons can be told.
pub fn told<T, E: Error + 'static>(result: Result<T, E>) -> Option<T> {
    result
        .inspect_err(|error| {
            let first: &(dyn Error + 'static) = error;
            let causes = successors(Some(first), |&cause| cause.source());
            causes.for_each(|cause| assert!(!cause.to_string().is_empty()));
        })
        .ok()
}

/// All that a profile tells, in a form that compares.
pub fn compared(profile: &Profile) -> impl PartialEq + std::fmt::Debug {
    let thread = |(thread, problems): &(Thread, selfprof_trace::foreign::Problems)| {
        (thread.name.clone(), spelled(&thread.trace), entries(&thread.trace), problems.total())
    };
    (profile.format, profile.threads.iter().map(thread).collect::<Vec<_>>())
}

fn threads(profile: Profile) -> Vec<Thread> {
    profile.threads.into_iter().map(|(thread, _)| thread).collect()
}

/// Every format is written of everything, and is JSON where it says so.
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

/// The threads in a format.
#[track_caller]
pub fn written(format: Format, threads: &[Thread]) -> Vec<u8> {
    let mut out = Vec::new();
    let result = write(format, threads, &mut out, WriteOptions::default());
    assert!(result.is_ok(), "{format}: {result:?}");
    out
}

/// What was written is recognised and read back, without a problem.
#[track_caller]
pub fn back(format: Format, text: &[u8]) -> Vec<Thread> {
    let profile = match read(text, Hint::default(), &OPTIONS) {
        Ok(profile) => profile,
        Err(error) => panic!("{format} is not read back: {error}, {:?}", error.source()),
    };
    assert_eq!(profile.format, format);
    for (thread, problems) in &profile.threads {
        assert!(problems.is_empty(), "{}: {:?}", thread.name, problems.list());
    }
    threads(profile)
}

/// A format that is read and written holds what it held already, and when each sample was taken.
#[track_caller]
fn assert_settles(format: Format, threads: &[Thread]) {
    let first = written(format, threads);
    // What is written may be longer than what was read.
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
        // Names that mean something in a format, such as `(idle)`, do so once.
        assert_eq!(written(format, &back(format, &again)), again);
    }
}
