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
