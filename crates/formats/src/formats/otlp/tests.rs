//! The decoded messages, compared with the trace and its summary.

use selfprof_trace::Marker;
use selfprof_trace::summary::Summary;

use super::*;
use crate::w3c;

const MARKERS: &str = include_str!("../../../fixtures/w3c/chromium-156-markers-isolated.json");

#[test]
fn every_sample_is_written_with_its_time_and_marker() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut out = Vec::new();
    write(&[Thread::main(trace.clone())], &mut out, WriteOptions::default()).unwrap();
    let decoded = ProfilesData::decode(&out[..]).unwrap();
    let dictionary = decoded.dictionary.clone().unwrap();
    assert_eq!(dictionary.stack_table[0], Stack::default());
    let profile = &decoded.resource_profiles[0].scope_profiles[0].profiles[0];
    let mut times: Vec<u64> =
        profile.samples.iter().flat_map(|sample| sample.timestamps_unix_nano.iter().copied()).collect();
    times.sort_unstable();
    assert_eq!(times, trace.samples().iter().map(|sample| sample.timestamp.0 * 1000).collect::<Vec<_>>());
    let within = profile.time_unix_nano..profile.time_unix_nano + profile.duration_nano;
    assert!(times.iter().all(|time| within.contains(time)));

    let summary = Summary::of(&trace);
    for row in &summary.functions {
        // Index 0 means "none".
        let location = row.frame.index() as i32 + 1;
        let own = profile.samples.iter().filter(|sample| {
            dictionary.stack_table[sample.stack_index as usize].location_indices.first() == Some(&location)
        });
        assert_eq!(own.flat_map(|sample| &sample.values).sum::<i64>(), nanos(row.self_time));
    }
    let mut labelled = trace.clone();
    let mut labels = selfprof_trace::Labels::default();
    let set = labels.set(LabelSet::new([("http.route", "/cart")])).ok();
    labels.change(trace.samples()[1].timestamp, set);
    labelled.set_labels(Some(labels));
    let data = super::data(&[Thread::main(labelled)]).unwrap();
    let (tables, profile) =
        (data.dictionary.unwrap(), &data.resource_profiles[0].scope_profiles[0].profiles[0]);
    let is_route = |index: &i32| {
        let key = tables.attribute_table[*index as usize].key_strindex;
        tables.string_table[key as usize] == "http.route"
    };
    let with_route = profile.samples.iter().filter(|sample| sample.attribute_indices.iter().any(is_route));
    let count: usize = with_route.map(|sample| sample.timestamps_unix_nano.len()).sum();
    assert_eq!(count, trace.samples()[1..].iter().filter(|sample| !sample.is_idle()).count());

    let profile = &decoded.resource_profiles[0].scope_profiles[0].profiles[0];
    for marker in Marker::ALL {
        let value = AnyValue { value: Some(any_value::Value::StringValue(marker.as_str().to_owned())) };
        let is_marked = |sample: &&Sample| {
            sample
                .attribute_indices
                .iter()
                .any(|&index| dictionary.attribute_table[index as usize].value.as_ref() == Some(&value))
        };
        let count: usize = profile.samples.iter().filter(is_marked).map(|sample| sample.values.len()).sum();
        assert_eq!(count as u64, summary.marker(marker).samples);
    }
}
