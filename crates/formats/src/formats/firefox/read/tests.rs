//! Profiles of others and our own, read.

use selfprof_trace::summary::Summary;
use selfprof_trace::{MergedThreads, Micros};

use super::*;
use crate::{Hint, WriteOptions, w3c};

const MARKERS: &str = include_str!("../../../../fixtures/w3c/chromium-156-markers-isolated.json");

/// The threads, each as its name, its busy and idle time, and `name file line self total` of each function, in
/// microseconds.
#[track_caller]
fn rows(json: &str) -> Vec<String> {
    let profile = crate::read(json.as_bytes(), Hint::default(), &ReadOptions::default()).unwrap();
    assert_eq!(profile.format, Format::Firefox);
    let mut rows = Vec::new();
    for (thread, problems) in &profile.threads {
        assert_eq!(problems.list(), []);
        let merged = MergedThreads::of([&thread.trace]).unwrap();
        let (trace, summary) = (&merged.trace, Summary::of_merged(&merged));
        rows.push(format!("{} busy {} idle {}", thread.label(), summary.busy.time.0, summary.idle.time.0));
        rows.extend(summary.functions.iter().map(|row| {
            let frame = trace.frames()[row.frame];
            let name = &trace.names()[frame.name];
            let file = frame.resource.map_or("-", |id| &trace.resources()[id]);
            let line = frame.line.map_or(0, Into::into);
            format!("{name} {file}:{line} {} {}", row.self_time.0, row.total_time.0)
        }));
    }
    rows
}

/// As the browser writes them, shortened: tables are rows with a schema, and functions are text.
#[test]
fn gecko_profiles_are_read() {
    let json = r#"{"meta":{"version":30,"interval":1,"startTime":1700000000000,"categories":[{"name":"Idle"},{"name":"Other"},{"name":"JavaScript"},
        {"name":"GC / CC"}]},"libs":[],"pausedRanges":[],"threads":[
        {"name":"GeckoMain","processName":"Parent Process","pid":10,"tid":10,
         "samples":{"schema":{"stack":0,"time":1,"eventDelay":2},"data":[[0,1.5,0],[1,2.5,0],[1,3.5],[2,4.5],[3,5.5,0],[null,7.5]]},
         "stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1],[1,2],[0,3]]},
         "frameTable":{"schema":{"location":0,"relevantForJS":1,"innerWindowID":2,"implementation":3,"line":4,"column":5,"category":6},
            "data":[[0,false,0,null,null,null,1],[1,false,0,null,9,9,2],[2,false,0,null,null,null,3],[3,false,0,null,null,null,0]]},
         "stringTable":["(root)","draw (https://x.org/a.js:3:7)","GC major","poll"]},
        {"name":"Empty","samples":{"schema":{"stack":0,"time":1},"data":[]}}],
        "processes":[{"meta":{"interval":1},"threads":[{"name":"GeckoMain","processName":"Web Content","pid":11,
         "samples":{"schema":{"stack":0,"time":1},"data":[[0,1],[0,3]]},"stackTable":{"schema":{"frame":1,"prefix":0},"data":[[null,0]]},
         "frameTable":{"schema":{"location":0},"data":[[0]]},"stringTable":["f (a.js:5)"]}]}]}"#;
    assert_eq!(
        rows(json),
        [
            // The last sample lasts as long as the interval.
            "Parent Process 10 busy 3000 idle 4000",
            "draw https://x.org/a.js:3 2000 3000",
            "GC major -:0 1000 1000",
            "(root) -:0 0 3000",
            "Web Content 11 busy 2000 idle 0",
            "f a.js:5 2000 2000",
        ]
    );
}

/// As the Firefox Profiler saves them, shortened: tables are columns.
#[test]
fn processed_profiles_are_read() {
    let tables = r#""stackTable":{"length":2,"prefix":[null,0],"frame":[0,1],"category":[0,0]},
        "frameTable":{"length":2,"func":[0,1],"category":[1,1],"line":[9,9],"column":[null,2]},
        "funcTable":{"length":2,"name":[1,2],"isJS":[true,true],FILES,"lineNumber":[1,4],"columnNumber":[null,8]},
        "stringArray":["https://x.org/a.js","main","draw"]"#;
    let profile = |samples: &str, in_thread: &str, shared: &str| {
        format!(
            r#"{{"meta":{{"interval":1,"preprocessedProfileVersion":50,"categories":[{{"name":"Other"}},{{"name":"JavaScript"}}]}},
                {shared} "threads":[{{"name":"worker","pid":"7","samples":{samples}{in_thread}}}]}}"#
        )
    };
    let old = tables.replace("FILES", r#""fileName":[0,0]"#);
    let times = r#"{"length":3,"stack":[0,1,null],"time":[0,1,3],"weight":null,"weightType":"samples"}"#;
    let expected = [
        "worker busy 3000 idle 1000",
        "draw https://x.org/a.js:4 2000 2000",
        "main https://x.org/a.js:1 1000 3000",
    ];
    assert_eq!(rows(&profile(times, &format!(",{old}"), "")), expected);
    // Newer ones share their tables and have other names for some columns.
    let new = tables.replace("FILES", r#""source":[0,0]"#);
    let shared = format!(r#""shared":{{"sources":{{"length":1,"filename":[0]}},{new}}},"#);
    let deltas = r#"{"length":3,"stack":[0,1,null],"timeDeltas":[0,1,2],"weightType":"samples"}"#;
    assert_eq!(rows(&profile(deltas, "", &shared)), expected);
    // Weights that are times.
    let weights = r#"{"length":2,"stack":[0,1],"time":[0,500],"weight":[500,0.5],"weightType":"tracing-ms"}"#;
    assert_eq!(
        rows(&profile(weights, &format!(",{old}"), "")),
        [
            "worker busy 500500 idle 0",
            "main https://x.org/a.js:1 500000 500500",
            "draw https://x.org/a.js:4 500 500"
        ]
    );
}

#[test]
fn what_is_wrong_is_an_error_or_reported() {
    let read = |json: &str| read(json.as_bytes(), &ReadOptions::default());
    assert!(matches!(read(r#"{"meta":{}}"#), Err(ReadError::Json(Format::Firefox, _))));
    assert_eq!(read(r#"{"meta":{},"threads":[]}"#).unwrap().len(), 1);
    let threads = read(
        r#"{"meta":{},"threads":[{"samples":{"stack":[7,0,-1,"x"],"time":[1,null,"y"]},
            "stackTable":{"frame":[9,null,0],"prefix":[5]}}]}"#,
    );
    let threads = threads.unwrap();
    assert_eq!((threads[0].1.total(), threads[0].0.trace.samples().len()), (4, 4));
    let mut options = ReadOptions::default();
    options.limits.samples = 1;
    let two = r#"{"meta":{},"threads":[{"samples":{"stack":[0,0],"time":[1,2]}}]}"#;
    assert!(matches!(super::read(two.as_bytes(), &options), Err(ReadError::Limit(_))));
    let deep = r#"{"meta":{},"threads":[],"processes":["#.repeat(100_000);
    assert!(matches!(read(&deep), Err(ReadError::Json(Format::Firefox, _))));
}

#[test]
fn what_was_written_is_read_with_the_same_times() {
    let (trace, _) = w3c::read(MARKERS.as_bytes()).unwrap();
    let mut written = Vec::new();
    super::super::write(&[Thread::main(trace.clone())], &mut written, WriteOptions::default()).unwrap();
    let threads = read(&written[..], &ReadOptions::default()).unwrap();
    let (before, after) = (Summary::of(&trace), Summary::of(&threads[0].0.trace));
    assert_eq!((before.busy.time, before.idle.time), (after.busy.time, after.idle.time));
    for marker in [Marker::Gc, Marker::Layout, Marker::Style, Marker::Paint, Marker::Parse] {
        assert_eq!(before.marker(marker).time, after.marker(marker).time, "{marker:?}");
    }
    assert!(after.busy.time > Micros::ZERO);
    assert_eq!(threads[0].0.name, Thread::MAIN);
}
