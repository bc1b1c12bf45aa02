//! The weights, compared with the summary.

use selfprof_trace::Micros;
use selfprof_trace::summary::Summary;

use super::*;
use crate::w3c;

const MARKERS: &str = include_str!("../../../fixtures/w3c/chromium-156-markers-isolated.json");

#[test]
fn times_equal_those_of_the_summary() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut out = Vec::new();
    write(&[Thread::main(Trace::new()), Thread::main(trace.clone())], &mut out, WriteOptions::default())
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let profile = &json["profiles"][1];
    let samples = profile["samples"].as_array().unwrap().iter().map(|path| path.as_array().unwrap());
    let weights = profile["weights"].as_array().unwrap().iter().map(|weight| weight.as_u64().unwrap());
    let samples: Vec<_> = samples.zip(weights).collect();
    assert_eq!(samples.len(), trace.samples().len());
    for row in Summary::of(&trace).functions {
        let index = serde_json::json!(states::COUNT + row.frame.index());
        assert_eq!(
            json["shared"]["frames"][states::COUNT + row.frame.index()]["line"],
            serde_json::json!(trace.frames()[row.frame].line)
        );
        let own: u64 =
            samples.iter().filter(|(path, _)| path.last() == Some(&index)).map(|(_, weight)| weight).sum();
        let total: u64 =
            samples.iter().filter(|(path, _)| path.contains(&index)).map(|(_, weight)| weight).sum();
        assert_eq!((Micros(own), Micros(total)), (row.self_time, row.total_time));
    }
    let all: u64 = samples.iter().map(|(_, weight)| weight).sum();
    let summary = Summary::of(&trace);
    assert_eq!(Micros(all), summary.busy.time.saturating_add(summary.idle.time));
    assert_eq!(profile["endValue"].as_i64().unwrap() - profile["startValue"].as_i64().unwrap(), all as i64);
}
