//! What senders send, also hostile ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::server::{Server, json_of, profile};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_taken_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let response = server.send(profile("a", 3).to_string()).await;
    assert_eq!(response.status(), 202);
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    assert_eq!(json_of(response).await, json!({ "accepted": 1, "known": 0 }));
    // The same one again, and several in one request, gzipped.
    let lines = format!("{}\n{}\n{}\n", profile("a", 3), profile("b", 3), profile("c", 3));
    let request = server.client.post(format!("{}/v1/profiles", server.url));
    let request = request.header("content-encoding", "gzip").body(gzip(lines.as_bytes()));
    let answer = request.send().await.unwrap();
    assert_eq!(json_of(answer).await, json!({ "accepted": 2, "known": 1 }));
    // Good ones are kept beside bad ones.
    let mixed = format!("{}\n{}", profile("d", 3), json!({ "app": "shop", "trace": {} }));
    let response = server.send(mixed).await;
    assert_eq!(response.status(), 202);
    let taken = json_of(response).await;
    assert_eq!(taken["accepted"], 1);
    assert!(taken["refused"][0].as_str().unwrap().starts_with("profile 2: "), "{taken}");
    server.wait_for(4).await;
    assert_eq!(server.ask("/api/v1/functions?app=shop").await["profiles"], 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_a_profile_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let with = |name: &str, value: Value| {
        let mut profile = profile("a", 3);
        profile[name] = value;
        profile.to_string()
    };
    let deep: Vec<Value> = (0..2_000)
        .map(|n| if n == 0 { json!({ "frameId": 0 }) } else { json!({ "frameId": 0, "parentId": n - 1 }) })
        .collect();
    let deep = json!({ "resources": [], "frames": [{ "name": "f" }], "stacks": deep, "samples": [{ "timestamp": 1, "stackId": 1999 }] });
    for (body, expected) in [
        (String::new(), "empty"),
        ("{".into(), "not a profile"),
        ("[]".into(), "an object with app, release, page and trace"),
        ("null".into(), "not a profile"),
        (with("trace", json!(5)), "trace"),
        (with("trace", json!({ "resources": [], "frames": [], "stacks": [], "samples": [] })), "no samples"),
        (with("trace", deep), "more than 1024 frames"),
        (with("app", json!("a/b")), "not a name of an application"),
        (with("app", json!("../../etc")), "not a name of an application"),
        (with("app", Value::Null), "it is missing"),
        (with("rate", json!(0)), "not a probability"),
        (with("rate", json!(-1)), "not a probability"),
        (with("rate", json!(1e300)), "not a probability"),
        (with("entries", json!({})), "not a profile"),
    ] {
        let response = server.send(body.clone()).await;
        assert_eq!(response.status(), 400, "{body}");
        let answer = response.text().await.unwrap();
        assert!(answer.contains(expected), "{body}: {answer}");
    }
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(server.send(with("trace", json!(0)).replace(":0", &format!(":{nested}"))).await.status(), 400);
    assert_eq!(server.send(vec![0xff; 1_000]).await.status(), 400);
    // The collector still works.
    assert_eq!(server.send(profile("a", 3).to_string()).await.status(), 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let post = |body: Vec<u8>, encoding: &'static str| {
        let request = server.client.post(format!("{}/v1/profiles", server.url));
        request.header("content-encoding", encoding).body(body).send()
    };
    let bomb = gzip(&vec![b' '; 200 << 20]);
    let response = post(bomb, "gzip").await.unwrap();
    assert_eq!(response.status(), 413);
    assert!(response.text().await.unwrap().contains("32 MiB"));
    assert_eq!(post(b"not gzip".to_vec(), "gzip").await.unwrap().status(), 400);
    assert_eq!(post(b"x".to_vec(), "br").await.unwrap().status(), 415);
    // The connection may close before everything is sent.
    if let Ok(response) = post(vec![b' '; 20 << 20], "identity").await {
        assert_eq!(response.status(), 413);
    }
    let many: String = (0..1_001).map(|n| format!("{}\n", profile(&n.to_string(), 1))).collect();
    let answer = json_of(post(many.into_bytes(), "identity").await.unwrap()).await;
    assert_eq!(
        (&answer["accepted"], &answer["refused"][0]),
        (&json!(1_000), &json!("more than 1000 profiles in one request"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_may_send() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let request = server.client.request(reqwest::Method::OPTIONS, format!("{}/v1/profiles", server.url));
    let request =
        request.header("origin", "https://shop.example").header("access-control-request-method", "POST");
    let response = request.header("access-control-request-headers", "content-encoding").send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["access-control-allow-origin"]),
        (200, &"*".parse().unwrap())
    );
    // What is stored is not for them.
    let request = server.client.get(format!("{}/api/v1/functions?app=shop", server.url));
    let response = request.header("origin", "https://shop.example").send().await.unwrap();
    assert!(!response.headers().contains_key("access-control-allow-origin"));
}
