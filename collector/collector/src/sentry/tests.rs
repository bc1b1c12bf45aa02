//! Envelopes as the SDK sends them.

use selfprof_store::profile::SpanKind;
use serde_json::{Value, json};

use super::*;

const TIME: i64 = 1_800_000_000_000_000;

fn lines(values: &[Value]) -> Vec<u8> {
    values.iter().map(|value| format!("{value}\n")).collect::<String>().into_bytes()
}

fn read_lines(values: &[Value]) -> Read {
    let sender = Sender { browser: "Chrome 153".into(), device: "desktop".into(), ..Sender::default() };
    read(&lines(values), "shop", TIME, &sender).unwrap()
}

/// Of 9.47.
fn transaction_profile() -> Value {
    json!({
        "event_id": "5f0c7b1e6a4d4b6f8f6f1f1d2b3c4d5e",
        "timestamp": "2026-11-23T10:00:00.000Z",
        "platform": "javascript", "version": "1", "release": "shop@1.4", "environment": "production",
        "device": { "locale": "en-US", "is_emulator": false }, "debug_meta": { "images": [] },
        "profile": {
            "thread_metadata": { "0": { "name": "main" } },
            "frames": [{ "function": "main", "abs_path": "https://shop.example/app.js?v=1", "lineno": 1, "colno": 1 },
                null, { "function": "", "abs_path": "https://shop.example/app.js?v=1", "lineno": 7, "colno": 3 },
                { "function": "now" }],
            "stacks": [[0], [3, 2, 0], []],
            "samples": [
                { "elapsed_since_start_ns": "0", "stack_id": 0, "thread_id": "0" },
                { "elapsed_since_start_ns": "10000000", "stack_id": 1, "thread_id": "0" },
                { "elapsed_since_start_ns": "20000000", "stack_id": 2, "thread_id": "0" },
                { "elapsed_since_start_ns": "30000000", "stack_id": 9, "thread_id": "0" },
            ],
        },
        "transactions": [{ "name": "/cart?session=1", "id": "aa", "trace_id": "bb", "active_thread_id": "0",
            "relative_start_ns": "0", "relative_end_ns": "30000000" }],
    })
}

fn transaction() -> Value {
    // 10:00:00
    let start = 1_795_428_000.0;
    json!({
        "type": "transaction", "event_id": "aa", "transaction": "/cart", "start_timestamp": start, "timestamp": start + 0.1,
        "spans": [
            { "op": "measure", "description": "checkout", "origin": "auto.resource.browser.metrics",
                "start_timestamp": start + 0.01, "timestamp": start + 0.02 },
            { "op": "ui.long-task", "description": "Main UI thread blocked", "origin": "auto.ui.browser.metrics",
                "start_timestamp": start, "timestamp": start + 0.06 },
            { "op": "resource.script", "description": "app.js", "origin": "auto.resource.browser.metrics",
                "start_timestamp": start, "timestamp": start + 0.06 },
            { "op": "task", "description": "own", "origin": "manual", "start_timestamp": start, "timestamp": start + 1.0 },
            { "op": "ui.interaction.click", "description": "body > b", "origin": "auto.http.browser.inp",
                "start_timestamp": start, "timestamp": start + 0.3 },
            { "op": "measure", "description": "without times" },
        ],
    })
}

#[test]
fn a_profile_of_a_transaction_has_its_page_and_its_spans() {
    let envelope = [
        json!({ "event_id": "aa", "trace": { "trace_id": "bb" } }),
        json!({ "type": "transaction" }),
        transaction(),
        json!({ "type": "profile" }),
        transaction_profile(),
        json!({ "type": "client_report" }),
        json!({}),
    ];
    let read = read_lines(&envelope);
    assert_eq!(read.types, ["transaction", "profile", "client_report"]);
    assert_eq!((read.event_id.as_deref(), read.refused.len()), (Some("aa"), 0));
    let [profile] = &read.profiles[..] else { panic!("{:?}", read.profiles) };
    let labels = &profile.labels;
    assert_eq!(
        [&labels.app, &labels.release, &labels.page, &labels.environment, &labels.browser, &labels.device],
        ["shop", "shop@1.4", "/cart", "production", "Chrome 153", "desktop"]
    );
    assert_eq!(profile.time, TIME);
    let spans: Vec<_> =
        profile.spans.iter().map(|span| (span.kind, span.name.as_str(), span.start, span.duration)).collect();
    assert_eq!(
        spans,
        [
            (SpanKind::Measure, "checkout", 10_000, 10_000),
            (SpanKind::LongTask, "Main UI thread blocked", 0, 60_000),
            (SpanKind::Measure, "own", 0, 1_000_000),
            (SpanKind::Event, "click", 0, 300_000),
        ]
    );
    let trace = profile.trace.to_trace(&[]).unwrap();
    let samples: Vec<_> = trace
        .samples()
        .iter()
        .map(|sample| {
            let names = sample.stack.iter().flat_map(|&stack| trace.path(stack));
            let names = names.map(|frame| trace.names()[trace.frames()[frame].name].to_owned());
            (sample.timestamp.0, names.collect::<Vec<_>>().join("<"))
        })
        .collect();
    assert_eq!(
        samples,
        [(0, "main".into()), (10_000, "now<<main".into()), (20_000, String::new()), (30_000, String::new())]
    );
    let url = trace.resources().iter().next().unwrap().1;
    assert_eq!(url, "https://shop.example/app.js");
    // Sent again, it is the same.
    assert_eq!(read_lines(&envelope).profiles[0].id, profile.id);
}

/// Of 11.12.
fn chunk(id: &str, samples: Value) -> Value {
    json!({
        "chunk_id": id, "client_sdk": { "name": "sentry.javascript.browser", "version": "11.12.0" },
        "profiler_id": "0123456789abcdef0123456789abcdef", "platform": "javascript", "version": "2",
        "release": "1.4", "environment": "test", "debug_meta": { "images": [] },
        "profile": {
            "frames": [{ "function": "main", "abs_path": "https://shop.example/app.js", "lineno": 1, "colno": 1 }],
            "stacks": [[0], []], "samples": samples, "thread_metadata": { "0": { "name": "main" } },
        },
    })
}

#[test]
fn chunks_of_a_profiler_are_profiles_of_one_session() {
    let sample = |time: f64| json!({ "stack_id": 0, "thread_id": "0", "timestamp": time });
    let envelope = [
        json!({}),
        json!({ "type": "profile_chunk", "platform": "javascript" }),
        chunk("a", json!([sample(1_800_000_000.5), sample(1_800_000_000.51)])),
        json!({ "type": "profile_chunk" }),
        chunk("b", json!([sample(1_800_000_060.5), null])),
    ];
    let read = read_lines(&envelope);
    let [a, b] = &read.profiles[..] else { panic!("{:?}", read) };
    assert_eq!(a.session, b.session);
    assert_ne!(a.id, b.id);
    let trace = a.trace.to_trace(&[]).unwrap();
    let times: Vec<_> = trace.samples().iter().map(|sample| sample.timestamp.0).collect();
    assert_eq!((times[0], times[1].abs_diff(10_000) < 2), (0, true), "{times:?}");
}

#[test]
fn each_thread_is_a_profile() {
    let sample = |thread: Value| json!({ "stack_id": 0, "thread_id": thread, "timestamp": 5 });
    let item = chunk("a", json!([sample(json!("0")), sample(json!(7)), sample(json!("0"))]));
    let read = read_lines(&[json!({}), json!({ "type": "profile_chunk" }), item]);
    let samples: Vec<_> = read.profiles.iter().map(|profile| profile.trace.samples()).collect();
    assert_eq!(samples, [2, 1]);
    assert_ne!(read.profiles[0].id, read.profiles[1].id);
}

#[test]
fn what_is_no_profile_is_refused_with_a_reason() {
    #[track_caller]
    fn check(item: Value, expected: &str) {
        let read = read_lines(&[json!({}), json!({ "type": "profile" }), item]);
        assert_eq!(read.profiles.len(), 0);
        assert!(read.refused[0].contains(expected), "{:?}", read.refused);
    }
    let with = |pointer: &str, value: Value| {
        let mut item = transaction_profile();
        *item.pointer_mut(pointer).unwrap() = value;
        item
    };
    check(json!(5), "a profile as Sentry's SDKs send it");
    check(json!({}), "missing field `profile`");
    check(with("/profile/samples", json!([])), "no samples");
    check(with("/profile/samples", json!({})), "a list of at most 200000");
    check(with("/profile/stacks", json!([[0.5]])), "u32");
    check(with("/profile/samples/0/stack_id", json!("x")), "not a number");
    let threads: Vec<_> =
        (0..20).map(|n| json!({ "stack_id": 0, "thread_id": n, "elapsed_since_start_ns": 1 })).collect();
    check(with("/profile/samples", json!(threads)), "more than 16 threads");
}

#[test]
fn nonsense_numbers_are_repaired() {
    #[track_caller]
    fn check(pointer: &str, value: Value) {
        let mut item = transaction_profile();
        *item.pointer_mut(pointer).unwrap() = value;
        let read = read_lines(&[json!({}), json!({ "type": "profile" }), item]);
        assert_eq!((read.profiles.len(), read.refused.len()), (1, 0), "{:?}", read.refused);
        read.profiles[0].trace.to_trace(&[]).unwrap();
    }
    check("/profile/samples/0/stack_id", json!(-1));
    check("/profile/samples/0/stack_id", json!(1e300));
    check("/profile/samples/1/elapsed_since_start_ns", json!(-1e300));
    check("/profile/samples/1/elapsed_since_start_ns", json!("1e308"));
    check("/profile/stacks/0", json!([4_000_000_000_u32]));
    check("/profile/frames/0", json!({ "function": "f", "lineno": -5, "colno": 1e99 }));
    check("/transactions", json!([]));
    check("/transactions/0/trace_id", json!(""));
    check("/release", Value::Null);
}
