//! The decoded messages, compared with the summary.

use selfprof_trace::summary::Summary;

use super::*;
use crate::w3c;

const MARKERS: &str = include_str!("../../../fixtures/w3c/chromium-156-markers-isolated.json");

#[test]
fn times_equal_those_of_the_summary() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut out = Vec::new();
    write(&[Thread::main(trace.clone())], &mut out, WriteOptions::default()).unwrap();
    let profile = Profile::decode(&out[..]).unwrap();
    assert_eq!(profile.string_table[0], "");
    let summary = Summary::of(&trace);
    for row in &summary.functions {
        // The id of a function is the index of its frame + 1.
        let id = row.frame.index() as u64 + 1;
        let function = profile.function[row.frame.index()];
        assert_eq!(function.start_line, trace.frames()[row.frame].line.map_or(0, |line| line.get().into()));
        let own = profile.sample.iter().filter(|sample| sample.location_id[0] == id);
        let total = profile.sample.iter().filter(|sample| sample.location_id.contains(&id));
        assert_eq!(own.map(|sample| sample.value[1]).sum::<i64>(), nanos(row.self_time));
        assert_eq!(total.map(|sample| sample.value[0]).sum::<i64>(), row.total_samples as i64);
    }
    let marked = |marker: Marker| {
        let is_marked = |sample: &&Sample| {
            sample.label.iter().any(|label| profile.string_table[label.str as usize] == marker.as_str())
        };
        profile.sample.iter().filter(is_marked).map(|sample| sample.value[0] as u64).sum::<u64>()
    };
    for marker in Marker::ALL {
        assert_eq!(marked(marker), summary.marker(marker).samples);
    }
}

#[test]
fn samples_with_different_labels_are_apart() {
    let json = r#"{"frames":[{"name":"f"}],"labels":[{"http.route":"/cart"},{"http.route":"/"}],"resources":[],"samples":[
        {"stackId":0,"timestamp":1},{"labelsId":0,"stackId":0,"timestamp":2},{"labelsId":1,"stackId":0,"timestamp":3},
        {"labelsId":0,"stackId":0,"timestamp":4}],"stacks":[{"frameId":0}]}"#;
    let (trace, _) = w3c::read(json.as_bytes()).unwrap();
    let profile = profile(&[Thread::main(trace)]).unwrap();
    let text = |index: i64| &*profile.string_table[index as usize];
    let found: Vec<_> = profile
        .sample
        .iter()
        .map(|sample| {
            let labels: Vec<_> =
                sample.label.iter().map(|label| (text(label.key), text(label.str))).collect();
            (labels, sample.value[0])
        })
        .collect();
    let route = |route| vec![("http.route", route)];
    assert_eq!(found, [(vec![], 1), (route("/cart"), 2), (route("/"), 1)]);
}

#[test]
fn cpu_time_and_the_start_are_written_if_they_are_known() {
    #[track_caller]
    fn check(json: &str, kinds: &[&str], values: &[i64], start: i64) {
        let (thread, problems) =
            w3c::read_threads(json.as_bytes(), &crate::options::ReadOptions::default()).unwrap().remove(0);
        assert!(problems.is_empty());
        let mut out = Vec::new();
        write(&[thread], &mut out, WriteOptions::default()).unwrap();
        let profile = Profile::decode(&out[..]).unwrap();
        let found = profile.sample_type.iter().map(|kind| &*profile.string_table[kind.r#type as usize]);
        assert_eq!(found.collect::<Vec<_>>(), kinds);
        assert_eq!(profile.sample[0].value, values);
        assert_eq!((profile.time_nanos, profile.duration_nanos), (start, 2_000_000));
    }
    let with = |members: &str| {
        format!(
            r#"{{"frames":[{{"name":"f"}}],"resources":[],"stacks":[{{"frameId":0}}],
            "samples":[{{"stackId":0,"timestamp":5}},{{"stackId":0,"timestamp":6}}]{members}}}"#
        )
    };
    check(&with(""), &["samples", "wall"], &[2, 2_000_000], 0);
    check(
        &with(
            r#","thread":{"timeOrigin":1700000000000.5},"waitingTimes":{"timestamps":[5,6],"values":[0,0.75]}"#,
        ),
        &["samples", "wall", "cpu"],
        &[2, 2_000_000, 1_250_000],
        // The first sample stands for the millisecond before it.
        1_700_000_000_004_500_000,
    );
}
