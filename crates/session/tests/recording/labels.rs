//! Which samples get which labels.

use std::sync::Arc;

use selfprof_session::{Instant, RawLabels, RawSegment, Recording, RecordingOptions};
use selfprof_trace::LabelSet;

use super::notation::{ALWAYS, Brackets, EVERYTHING, segment};

/// `100 0 /cart, 250 200 -`: labels that were read at 100 for the first time, and none at 250, where those at 200 were as before.
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
    let options = RecordingOptions { interval: selfprof_trace::Micros(200), ..EVERYTHING };
    check(
        options,
        &[("101 a, 201 b, 301 c, 401 d", "100 0 /cart, 200 100 /, 400 300 -")],
        "101 /cart, 301 /",
    );
}
