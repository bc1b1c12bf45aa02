//! The lines, and their times compared with the summary.

use super::*;
use crate::w3c;

const MARKERS: &str = include_str!("../../../fixtures/w3c/chromium-156-markers-isolated.json");

#[test]
fn stacks_are_lines() {
    let json = r#"{"frames":[{"name":"a;b\n"},{"name":"","resourceId":0,"line":1,"column":2}],"resources":["x.js"],
        "stacks":[{"frameId":0},{"frameId":1,"parentId":0}],
        "samples":[{"timestamp":1,"stackId":1},{"timestamp":2,"stackId":1,"marker":"gc"},{"timestamp":3},
            {"timestamp":4,"marker":"layout"},{"timestamp":5,"stackId":0}]}"#;
    let (trace, _) = w3c::read(json.as_bytes()).unwrap();
    let mut out = Vec::new();
    write(&trace, &mut out, WriteOptions::default()).unwrap();
    let expected = "a,b ;(anonymous) (x.js:1:2) 2000\n(layout) 1000\na,b  1000\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn times_equal_those_of_the_summary() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut out = Vec::new();
    write(&trace, &mut out, WriteOptions::default()).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<(&str, u64)> = text
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(path, time)| (path, time.parse().unwrap()))
        .collect();
    for row in selfprof_trace::summary::Summary::of(&trace).functions {
        let name = function(&trace, &trace.frames()[row.frame]);
        let sum = |holds: &dyn Fn(&str) -> bool| {
            lines.iter().filter(|(path, _)| holds(path)).map(|(_, time)| time).sum::<u64>()
        };
        assert_eq!(Micros(sum(&|path| path.rsplit(';').next() == Some(&name))), row.self_time);
        assert_eq!(Micros(sum(&|path| path.split(';').any(|function| function == name))), row.total_time);
    }
}
