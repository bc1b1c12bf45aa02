//! Envelopes of Sentry's SDKs, also hostile ones. `senders/sentry.test.mjs` has the SDKs themselves send.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::server::{Server, json_of};

/// An envelope with a session, which is dropped, and a chunk of a profile.
fn envelope(id: &str) -> String {
    let samples: Vec<Value> = (0..5)
        .map(|n| json!({ "stack_id": n % 2, "thread_id": "0", "timestamp": 1_800_000_000.0 + f64::from(n) / 100.0 }))
        .collect();
    let chunk = json!({
        "chunk_id": id, "profiler_id": "p", "platform": "javascript", "version": "2", "release": "1.4",
        "environment": "test",
        "profile": {
            "frames": [{ "function": "main", "abs_path": "https://shop.example/app.js", "lineno": 1, "colno": 1 }],
            "stacks": [[0], []], "samples": samples, "thread_metadata": {},
        },
    });
    let header = json!({ "event_id": "e", "sent_at": "2026-11-23T10:00:00.000Z" });
    format!("{header}\n{{\"type\":\"session\"}}\n{{}}\n{{\"type\":\"profile_chunk\"}}\n{chunk}")
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_of_an_envelope_are_taken_in_once_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let post = |path: &str, body: String| {
        let request = server.client.post(format!("{}{path}", server.url));
        request
            .header("content-type", "text/plain;charset=UTF-8")
            .header("origin", "https://shop.example")
            .body(body)
    };
    let path = "/api/42/envelope/?sentry_version=7&sentry_key=shop&sentry_client=sentry.javascript.browser%2F11.12.0";
    let response = post(path, envelope("a")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["access-control-allow-origin"]),
        (200, &"*".parse().unwrap())
    );
    assert_eq!(json_of(response).await, json!({ "id": "e", "accepted": 1, "known": 0 }));
    // The key in a header, the path without its last slash, another project, and the body gzipped.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(envelope("a").as_bytes()).unwrap();
    let request = server.client.post(format!("{}/api/7/envelope", server.url));
    let request =
        request.header("x-sentry-auth", "Sentry sentry_version=7, sentry_key=shop, sentry_client=x/1");
    let response =
        request.header("content-encoding", "gzip").body(gzip.finish().unwrap()).send().await.unwrap();
    assert_eq!(json_of(response).await, json!({ "id": "e", "accepted": 0, "known": 1 }));
    // Without a profile.
    let response = post(path, "{}\n{\"type\":\"<b>\"}\n{}\n".into()).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), json_of(response).await),
        (200, json!({ "accepted": 0, "known": 0 }))
    );
    server.wait_for(1).await;
    let functions = server.ask("/api/v1/functions?app=shop").await;
    assert_eq!((&functions["profiles"], &functions["samples"]), (&json!(1), &json!(5)));
    let metrics =
        server.client.get(format!("{}/metrics", server.url)).send().await.unwrap().text().await.unwrap();
    for (kind, count) in [("session", 2), ("profile_chunk", 2), ("other", 1), ("profile", 0)] {
        let line = format!("selfprof_envelope_items_total{{type=\"{kind}\"}} {count}\n");
        assert!(metrics.contains(&line), "{metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_envelope_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let post = |key: &'static str, body: String| {
        server.client.post(format!("{}/api/42/envelope/?sentry_key={key}", server.url)).body(body).send()
    };
    let nested = format!("{{}}\n{{\"type\":\"profile\"}}\n{}\n", "[".repeat(100_000));
    for (key, body, expected) in [
        ("shop", String::new(), "line 1"),
        ("shop", "x".into(), "line 1"),
        ("shop", "{}\n{\"type\":\"profile\",\"length\":99}\n{}".into(), "ends within item 1"),
        ("shop", "{}\n{\"type\":\"profile\"}\n{}\n".into(), "missing field `profile`"),
        ("shop", nested, "not a profile"),
        ("", envelope("a"), "not a name of an application"),
        ("..", envelope("a"), "not a name of an application"),
    ] {
        let response = post(key, body).await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!((status.as_u16(), text.contains(expected)), (400, true), "{expected}: {text}");
    }
    let no_key = server.client.post(format!("{}/api/42/envelope/", server.url)).body(envelope("a"));
    assert_eq!(no_key.send().await.unwrap().status(), 400);
    assert_eq!(post("shop", envelope("b")).await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_rates_are_those_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("settings.toml");
    fs::write(
        &config,
        "[apps.shop]\nkeys = ['0123456789abcdef']\norigins = ['https://shop.example']\nrate = 1",
    )
    .unwrap();
    let server = Server::start(&folder.path().join("data"), &["--config", config.to_str().unwrap()]);
    let post = |key: &'static str, origin: &'static str, id: &'static str| {
        let url = format!("{}/api/1/envelope/?sentry_key={key}", server.url);
        server.client.post(url).header("origin", origin).body(envelope(id)).send()
    };
    assert_eq!(post("shop", "https://shop.example", "a").await.unwrap().status(), 401);
    assert_eq!(post("0123456789abcdef", "https://evil.example", "a").await.unwrap().status(), 403);
    assert_eq!(post("0123456789abcdef", "https://shop.example", "a").await.unwrap().status(), 200);
    let response = post("0123456789abcdef", "https://shop.example", "b").await.unwrap();
    // The SDK waits as long as this says, which it may read.
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (429, &"1".parse().unwrap())
    );
    assert_eq!(response.headers()["access-control-expose-headers"], "*");
}
