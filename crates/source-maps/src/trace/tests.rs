//! Mapping the functions of traces, without losing samples.

use proptest::prelude::*;
use selfprof_trace::Micros;
use selfprof_trace::testing::{parts, trace};

use super::*;

/// `name resource:line:column` of all functions.
fn spelled(trace: &Trace) -> Vec<String> {
    let spell = |(_, frame): (_, Frame)| {
        let url = frame.resource.map_or("-", |id| &trace.resources()[id]);
        format!(
            "{} {url}:{}:{}",
            &trace.names()[frame.name],
            frame.line.map_or(0, u32::from),
            frame.column.map_or(0, u32::from)
        )
    };
    trace.frames().iter().map(spell).collect()
}

#[test]
fn functions_get_their_original_names_and_locations() {
    let map = Map::read(
        br#"{"version":3,"sources":["../src/app.ts"],"names":[],"sourcesContent":["export const load = () => 1;\nclass A { get size() { return 1 } }"],
            "mappings":"AAAA,a"}"#,
    );
    // The code from column 13 on has no source.
    let map = map.unwrap();
    let mut trace = Trace::new();
    let mut stack = None;
    for (name, url, column) in [
        ("a", Some("/app/dist/a.js"), 3),
        ("b", Some("/app/dist/other.js"), 3),
        ("c", None, 0),
        ("d", Some("/app/dist/a.js"), 99),
    ] {
        let name = trace.name(name).unwrap();
        let resource = url.map(|url| trace.resource(url).unwrap());
        let number = u32::try_into(column).ok().filter(|_| resource.is_some());
        let line = 1.try_into().ok().filter(|_| resource.is_some());
        let frame = trace.frame(Frame { name, resource, line, column: number }).unwrap();
        stack = Some(trace.stack(Stack { parent: stack, frame }).unwrap());
        trace.push_sample(Sample { timestamp: Micros(7), stack, marker: None });
    }
    let (mapped, counts) = apply(&trace, |url| (url == "/app/dist/a.js").then_some(&map)).unwrap();
    assert_eq!(counts, Counts { with_position: 3, with_map: 2, mapped: 1, hidden: 0 });
    let expected =
        ["load /app/src/app.ts:1:1", "b /app/dist/other.js:1:3", "c -:0:0", "d /app/dist/a.js:1:99"];
    assert_eq!(spelled(&mapped), expected);
    assert_eq!(mapped.samples().len(), 4);
}

#[test]
fn accessors_keep_their_prefixes() {
    // The second one's scope already has the prefix.
    for (text, scopes) in [("class A { get size() {} }", ""), ("", "BFAAA,CAB,EGAA,FB")] {
        let json = format!(
            r#"{{"version":3,"sources":["a.js"],"names":["get size"],"sourcesContent":["{text}"],"mappings":"AAAU","scopes":"{scopes}"}}"#
        );
        let map = Map::read(json.as_bytes()).unwrap();
        let mut trace = Trace::new();
        let (name, resource) = (trace.name("get s").unwrap(), Some(trace.resource("b.js").unwrap()));
        trace.frame(Frame { name, resource, line: 1.try_into().ok(), column: 1.try_into().ok() }).unwrap();
        let (mapped, _) = apply(&trace, |_| Some(&map)).unwrap();
        assert_eq!(spelled(&mapped), ["get size a.js:1:11"]);
    }
}

/// The stack of each sample, as the names of its functions, root first.
fn stacks(trace: &Trace) -> Vec<String> {
    let names =
        |stack| trace.path(stack).map(|frame| &trace.names()[trace.frames()[frame].name]).collect::<Vec<_>>();
    let spell = |sample: &Sample| sample.stack.map_or("-".to_owned(), |stack| names(stack).join(" "));
    trace.samples().iter().map(spell).collect()
}

#[test]
fn hidden_functions_are_removed_from_stacks() {
    let map = Map::read(include_bytes!("../../fixtures/orders.js.map")).unwrap();
    let mut trace = Trace::new();
    let resource = Some(trace.resource("/app/orders.js").unwrap());
    let mut frame = |name: &str, line: u32, column: u32| {
        let name = trace.name(name).unwrap();
        trace
            .frame(Frame { name, resource, line: line.try_into().ok(), column: column.try_into().ok() })
            .unwrap()
    };
    // `s` calls the helper `u`, which calls `b`, a block of `reserve`. `c` has no caller; in one sample each, neither
    // have `u` and `b`.
    let (s, u, b, c) = (frame("s", 4, 18), frame("u", 1, 11), frame("b", 3, 11), frame("c", 5, 11));
    for stack in [&[s, u, b][..], &[s, u], &[s], &[u, b], &[u], &[u, b, c], &[c, u], &[]] {
        let mut parent = None;
        for &frame in stack {
            parent = Some(trace.stack(Stack { parent, frame }).unwrap());
        }
        trace.push_sample(Sample { timestamp: Micros(7), stack: parent, marker: None });
    }
    let (mapped, counts) = apply(&trace, |_| Some(&map)).unwrap();
    assert_eq!(counts, Counts { with_position: 4, with_map: 4, mapped: 2, hidden: 2 });
    let expected = ["submit", "submit", "submit", "b", "u", "confirm", "confirm", "-"];
    assert_eq!(stacks(&mapped), expected);
}

/// A map with very long names, shared by very many functions.
#[test]
fn long_shared_names_are_processed_once() {
    let long = "s".repeat(1 << 24);
    let map =
        format!(r#"{{"version":3,"sources":["{long}"],"names":["{long}"],"mappings":"AAAAA"}}"#).into_bytes();
    let map = Map::read(&map).unwrap();
    let mut trace = Trace::new();
    let (name, resource) = (trace.name("f").unwrap(), trace.resource("/dist/a.js").ok());
    for column in 2..20_000_u32 {
        let (line, column) = (1.try_into().ok(), column.try_into().ok());
        trace.frame(Frame { name, resource, line, column }).unwrap();
    }
    let (mapped, counts) = apply(&trace, |_| Some(&map)).unwrap();
    assert_eq!(counts.mapped, trace.frames().len());
    let names: Vec<&str> = mapped.names().iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["f"]);
    assert_eq!(mapped.resources().len(), 1);
}

proptest! {
    #[test]
    fn without_maps_the_trace_is_unchanged(trace in trace()) {
        let (mapped, counts) = apply(&trace, |_| None).unwrap();
        prop_assert_eq!(parts(&mapped), parts(&trace));
        prop_assert_eq!((counts.with_map, counts.mapped), (0, 0));
    }

    #[test]
    fn no_sample_is_lost(
        trace in trace(),
        mappings in "[A-Za-z0-9+/,;]{0,30}",
        scopes in "([BCDEFGHI][A-Za-z0-9+/]{2,5},?){0,9}",
    ) {
        let json = format!(
            r#"{{"version":3,"sources":["x.ts","y.ts"],"names":["n"],"mappings":"{mappings}","scopes":"{scopes}"}}"#
        );
        if let Ok(map) = Map::read(json.as_bytes()) {
            let (mapped, counts) = apply(&trace, |_| Some(&map)).unwrap();
            prop_assert!(counts.mapped + counts.hidden <= counts.with_map && counts.with_map <= counts.with_position);
            let depth = |trace: &Trace| trace.samples().iter().map(|sample| {
                (sample.timestamp, sample.marker, sample.stack.map_or(0, |stack| trace.path(stack).count()))
            }).collect::<Vec<_>>();
            if counts.hidden == 0 {
                prop_assert_eq!(depth(&mapped), depth(&trace));
            }
            for (before, after) in depth(&trace).into_iter().zip(depth(&mapped)) {
                prop_assert_eq!((before.0, before.1, before.2 == 0), (after.0, after.1, after.2 == 0));
                prop_assert!(after.2 <= before.2);
            }
            prop_assert_eq!(mapped.samples().len(), trace.samples().len());
        }
    }
}

#[test]
fn long_urls_of_scripts_do_not_multiply() {
    let sources: Vec<String> = (0..200).map(|number| format!(r#""{number}.ts""#)).collect();
    let mappings = format!("AAAA{}", ";ACAA".repeat(199));
    let json =
        format!(r#"{{"version":3,"sources":[{}],"names":[],"mappings":"{mappings}"}}"#, sources.join(","));
    let map = Map::read(json.as_bytes()).unwrap();
    let mut trace = Trace::new();
    let url = format!("/{}/a.js", "d".repeat(1 << 20));
    let (name, resource) = (trace.name("f").unwrap(), trace.resource(&url).unwrap());
    for line in 1..=200_u32 {
        let (line, column) = (line.try_into().ok(), 1.try_into().ok());
        let frame = trace.frame(Frame { name, resource: Some(resource), line, column }).unwrap();
        trace.stack(Stack { parent: None, frame }).unwrap();
    }
    let (mapped, counts) = apply(&trace, |_| Some(&map)).unwrap();
    assert_eq!(counts.mapped, 200);
    let lengths: Vec<usize> = mapped.resources().iter().map(|(_, url)| url.len()).collect();
    assert_eq!(lengths.len(), 200);
    assert!(lengths.iter().sum::<usize>() < 130 << 20);
    assert_eq!(mapped.resources().iter().last().map(|(_, url)| url), Some("199.ts"));
}
