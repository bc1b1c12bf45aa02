//! How many sessions are profiled, and why others cannot be.

use serde_json::{Value, json};

use crate::server::{Server, json_of, profile, run};

fn report(id: &str, browser: &str, coverage: &str) -> Value {
    json!({ "id": id, "app": "shop", "page": "/cart?secret", "session": id, "rate": 0.5, "browser": browser, "coverage": coverage })
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_cannot_be_profiled_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    // What cannot be read hides nothing else.
    let lines = [
        report("a", "Chrome 153", "native"),
        report("b", "Chrome 153", "not-allowed"),
        json!({ "app": "shop" }),
        report("c", "Firefox 140", "no-api"),
        report("c", "Firefox 140", "no-api"),
        report("d", "Firefox 140", "<b>"),
        profile("e", 3),
    ];
    let response = server.send(lines.map(|line| line.to_string()).join("\n")).await;
    assert_eq!(response.status(), 202);
    let taken = json_of(response).await;
    assert_eq!((&taken["accepted"], &taken["coverage"]), (&json!(1), &json!(4)), "{taken}");
    let reasons = taken["refused"].to_string();
    assert!(reasons.contains("profile 3: ") && reasons.contains("trace is missing"), "{taken}");
    assert!(reasons.contains("profile 6: coverage is"), "{taken}");
    let expected = json!({
        "version": 1,
        "total": {
            "value": "", "reports": 3, "sessions": 6.0, "profiled": 2.0,
            "kinds": { "native": 2.0, "no-api": 2.0, "not-allowed": 2.0 },
        },
        "groups": [
            { "value": "Chrome 153", "reports": 2, "sessions": 4.0, "profiled": 2.0, "kinds": { "native": 2.0, "not-allowed": 2.0 } },
            { "value": "Firefox 140", "reports": 1, "sessions": 2.0, "profiled": 0.0, "kinds": { "no-api": 2.0 } },
        ],
    });
    assert_eq!(server.ask("/api/v1/coverage?app=shop").await, expected);
    let pages = server.ask("/api/v1/coverage?app=shop&by=page").await;
    assert_eq!(pages["groups"][0]["value"], "/cart");
    assert!(server.ask("/api/v1/coverage?app=blog").await["groups"].as_array().unwrap().is_empty());
    // The reports are no profiles.
    server.wait_for(1).await;
    assert_eq!(server.ask("/api/v1/functions?app=shop").await["sessions"], 1);
    let url = server.url.clone();
    let table =
        tokio::task::spawn_blocking(move || run(&["query", "coverage", "--app", "shop", "--url", &url]));
    let table = String::from_utf8(table.await.unwrap().stdout).unwrap();
    assert!(
        table.contains("50.0%") && table.contains("Firefox 140") && table.contains("of 3 reports"),
        "{table}"
    );
    // A restart keeps what was counted.
    server.stop();
    let server = Server::start(folder.path(), &[]);
    assert_eq!(server.ask("/api/v1/coverage?app=shop").await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_gzip_if_they_begin_like_it() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(profile("a", 3).to_string().as_bytes()).unwrap();
    assert_eq!(server.send(encoder.finish().unwrap()).await.status(), 202);
    assert_eq!(server.send(vec![0x1f, 0x8b, 0, 0]).await.status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interaction_is_its_longest_event() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let event = |name: &str, duration: u32, interaction: u32| json!({ "entryType": "event", "name": name, "startTime": 0, "duration": duration, "interactionId": interaction });
    let mut sent = profile("a", 50);
    // An event without an interaction is one of a pointer that moves.
    sent["entries"] = json!([
        event("pointerdown", 240, 7),
        event("pointerup", 320, 7),
        event("click", 304, 7),
        event("keydown", 208, 8),
        event("pointerover", 400, 0),
    ]);
    assert_eq!(server.send(sent.to_string()).await.status(), 202);
    server.wait_for(1).await;
    let spans = server.ask("/api/v1/spans?app=shop").await;
    let slow = &spans["spans"][0];
    assert_eq!(
        (&slow["name"], &slow["spans"], &slow["longest"]),
        (&json!("(slow interaction)"), &json!(2), &json!(320.0))
    );
}
