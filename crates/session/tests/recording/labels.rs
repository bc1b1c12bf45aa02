//! Which samples get which labels.

use std::sync::Arc;

use selfprof_session::{BufferPolicy, Instant, RawLabels, RawSegment, Recording, RecordingOptions};
use selfprof_trace::{LabelSet, Micros};

use super::notation::{ALWAYS, Brackets, EVERYTHING, segment, show, show_samples};

/// `100 0 /cart, 250 200 -`: labels that were read at 100 for the first time, and none at 250, where those at 200 were
/// as before.
fn with_labels(samples: &str, labels: &str) -> RawSegment {
    let one = |reading: &str| {
        let [from, before, route] = reading.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{reading}")
        };
        let labels = (route != "-").then(|| Arc::new(LabelSet::new([("route", route)])));
        RawLabels { from: Instant(from.parse().unwrap()), before: Instant(before.parse().unwrap()), labels }
    };
    let labels = labels.split(',').filter(|reading| !reading.trim().is_empty());
    RawSegment { labels: labels.map(one).collect(), ..segment(samples) }
}

/// Each segment has samples, and labels. `expected` has the times at which the labels of recorded samples change.
#[track_caller]
fn check(options: RecordingOptions, segments: &[(&str, &str)], expected: &str) {
    let mut recording = Recording::new(RecordingOptions { labels: true, ..options });
    let mut found = Vec::new();
    for (samples, labels) in segments {
        recording.append(&with_labels(samples, labels), ALWAYS, &[], &Brackets).unwrap();
        found.extend(recording.drain_labels().into_iter().map(|change| {
            let route = change.labels.as_ref().and_then(|labels| labels.get("route")).unwrap_or("-");
            format!("{} {route}", change.timestamp.0)
        }));
    }
    assert_eq!(found.join(", "), expected);
}

#[test]
fn samples_have_the_labels_that_were_read_just_before_them() {
    check(
        EVERYTHING,
        &[("101 a, 201 b, 302 c, 401 d", "100 0 /cart, 300 200 /, 400 300 -")],
        "101 /cart, 302 /, 401 -",
    );
    // Nothing was read before the first samples.
    check(EVERYTHING, &[("11 a, 21 b", "20 0 /cart")], "21 /cart");
}

#[test]
fn labels_of_samples_that_come_later_wait_for_them() {
    check(
        EVERYTHING,
        &[
            ("101 a", "100 0 /cart, 200 100 /, 300 200 -"),
            ("101 a, 201 b, 301 c", ""),
            ("401 d", "400 300 /"),
        ],
        "101 /cart, 201 /, 301 -, 401 /",
    );
}

#[test]
fn labels_of_a_sample_without_a_reading_are_unknown_if_they_change() {
    // The samples at 150 and 160 were not read.
    check(EVERYTHING, &[("101 a, 150 b, 160 b, 201 c", "100 0 /cart, 200 100 /")], "101 /cart, 150 -, 201 /");
    // They are those before, if those after are the same.
    check(EVERYTHING, &[("101 a, 150 b, 201 c", "100 0 /cart, 200 100 /cart")], "101 /cart");
}

#[test]
fn samples_between_those_of_a_session_count_too() {
    let options = RecordingOptions { interval: Micros(200), ..EVERYTHING };
    check(
        options,
        &[("101 a, 201 b, 301 c, 401 d", "100 0 /cart, 200 100 /, 400 300 -")],
        "101 /cart, 301 /",
    );
}

/// The samples of segments with labels.
#[track_caller]
fn check_stacks(options: RecordingOptions, segments: &[(&str, &str)], expected: &str) {
    let mut recording = Recording::new(RecordingOptions { labels: true, ..options });
    for (samples, labels) in segments {
        recording.append(&with_labels(samples, labels), ALWAYS, &[], &Brackets).unwrap();
    }
    assert_eq!(show(&recording.finish()), expected);
}

#[test]
fn a_collection_with_labels_gets_no_stack_of_other_work() {
    let samples = "101 a;b, 201 gc, 301 a;c";
    let check = |labels: &str, expected: &str| check_stacks(EVERYTHING, &[(samples, labels)], expected);
    let (with, without) = ("101 a;b, 201 a gc, 301 a;c", "101 a;b, 201 gc, 301 a;c");
    check("100 0 /cart, 200 100 /, 300 200 /cart", without);
    check("200 100 /, 300 200 -", without);
    check("100 0 /cart, 200 100 /, 300 200 /other", without);
    // One of the neighbours is the same work.
    check("100 0 /, 300 200 /cart", with);
    check("100 0 /cart, 200 100 /", with);
    check("100 0 /", with);
    // A collection without labels may be of any work.
    check("", with);
    check("100 0 /cart, 200 100 -, 300 200 /cart", with);
    // Each collection has labels of its own, also in another segment than its neighbours.
    check_stacks(
        EVERYTHING,
        &[("101 a;b, 201 gc, 251 gc", "100 0 /cart, 250 200 /"), ("261 gc, 301 a;c", "260 250 /cart")],
        "101 a;b, 201 a gc, 251 gc, 261 a gc, 301 a;c",
    );
}

#[test]
fn collections_keep_their_labels_when_samples_before_them_are_dropped() {
    // The first collections are dropped while the last ones wait.
    let mut samples: Vec<String> = (1..=70).map(|time| format!("{time} gc")).collect();
    samples.insert(0, "0 a;b".into());
    samples.push("71 a;c".into());
    let options = RecordingOptions { policy: BufferPolicy::Circular, limit: Some(4), ..EVERYTHING };
    let segment = (&*samples.join(", "), "0 0 /cart, 69 68 /, 70 69 /cart");
    check_stacks(options, &[segment], "68 a gc, 69 gc, 70 a gc, 71 a;c");
    // Samples before the collection are drained.
    let mut recording = Recording::new(RecordingOptions { labels: true, ..EVERYTHING });
    let mut drained = String::new();
    for (samples, labels) in [("1 a;b, 2 gc", "0 0 /cart"), ("3 gc, 4 a", "3 2 /, 4 3 /cart")] {
        recording.append(&with_labels(samples, labels), ALWAYS, &[], &Brackets).unwrap();
        let samples = recording.drain();
        drained += &format!("{}; ", show_samples(recording.trace(), &samples));
    }
    assert_eq!(drained, "1 a;b; 2 a gc, 3 gc, 4 a; ");
}
