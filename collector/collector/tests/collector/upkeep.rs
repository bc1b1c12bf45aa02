//! Merging beside queries, and the deletion of sessions.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use serde_json::json;

use crate::server::{Server, json_of, profile, run};

/// Upkeep that merges what there is, again and again.
pub const OFTEN: [&str; 6] = ["--upkeep-every", "200ms", "--upkeep-files", "2", "--upkeep-keep", "20s"];

async fn metric(server: &Server, name: &str) -> f64 {
    let text =
        server.client.get(format!("{}/metrics", server.url)).send().await.unwrap().text().await.unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

async fn wait_for(server: &Server, name: &str, least: f64) {
    let begin = Instant::now();
    while metric(server, name).await < least {
        assert!(begin.elapsed() < Duration::from_secs(60), "{name} is less than {least}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The answers to what the page and the commands ask, with the profiles of the shop.
async fn answers(server: &Server) -> String {
    let mut answers = String::new();
    let diff = "diff?app=shop&base=release%20%3D%20'1.3'&new=release%20%3D%20'1.4'&top=1000";
    let all = "functions?app=shop&top=1000";
    for path in [
        all,
        "functions?app=shop&top=1000&where=release%20%3D%20'1.4'%20and%20span%20%3D%20'checkout'",
        "flamegraph?app=shop",
        "flamegraph?app=shop&where=page%20%3D%20'/cart'",
        "profiles?app=shop&top=2000",
        "values?app=shop&column=span",
        "values?app=shop&column=page",
        diff,
    ] {
        let url = format!("{}/api/v1/{path}", server.url);
        let response = server.client.get(url).send().await.unwrap();
        assert!(response.status().is_success(), "{path}");
        answers.push_str(&format!("{path}: {}\n", response.text().await.unwrap()));
    }
    let list = server.ask("/api/v1/profiles?app=shop&top=5").await;
    for profile in list["profiles"].as_array().unwrap() {
        let id = profile["id"].as_str().unwrap();
        answers.push_str(&server.ask(&format!("/api/v1/profiles/{id}?app=shop")).await.to_string());
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn merged_files_answer_as_small_ones_did() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shop/profiles");
    for release in ["1.3", "1.4"] {
        let file = fs::File::open(profiles.join(format!("{release}.jsonl.gz"))).unwrap();
        let lines: Vec<String> =
            BufReader::new(MultiGzDecoder::new(file)).lines().map(Result::unwrap).collect();
        // Each import becomes a file of each table.
        for part in lines.chunks(200) {
            let path = folder.path().join("part.jsonl");
            fs::write(&path, part.join("\n")).unwrap();
            let output =
                run(&["import", "--data", data.to_str().unwrap(), "--app", "shop", path.to_str().unwrap()]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let server = Server::start(&data, &["--upkeep-every", "1h"]);
    let before = answers(&server).await;
    server.stop();
    let server = Server::start(&data, &OFTEN);
    // Meanwhile, and afterwards.
    while metric(&server, "selfprof_upkeep_runs_total").await < 2.0 {
        assert!(answers(&server).await == before, "an answer has changed");
    }
    assert!(answers(&server).await == before, "an answer has changed");
    assert_eq!(metric(&server, "selfprof_upkeep_runs_failed_total").await, 0.0);
    let (merged, written) = ("selfprof_upkeep_files_merged_total", "selfprof_upkeep_files_written_total");
    assert!(metric(&server, merged).await >= 50.0);
    assert!(metric(&server, written).await <= 20.0);
    assert!(metric(&server, "selfprof_upkeep_last_success_timestamp_seconds").await > 1e9);
    server.stop();
    let server = Server::start(&data, &["--upkeep-every", "1h"]);
    assert!(answers(&server).await == before, "an answer has changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("settings.toml");
    let token = "token-of-an-operator";
    fs::write(
        &config,
        format!("tokens = ['{token}']\n[apps.shop]\nkeys = ['public-key-of-the-shop']\nkeep = '30d'"),
    )
    .unwrap();
    let mut arguments = vec!["--config", config.to_str().unwrap(), "--keep", "90d"];
    arguments.extend(OFTEN);
    let server = Server::start(&folder.path().join("data"), &arguments);
    let send = async |id: &str, session: &str| {
        let mut profile = profile(id, 5);
        profile["session"] = json!(session);
        let url = format!("{}/v1/profiles?key=public-key-of-the-shop", server.url);
        json_of(server.client.post(url).body(profile.to_string()).send().await.unwrap()).await
    };
    let profiles = async || {
        let url = format!("{}/api/v1/functions?app=shop", server.url);
        let answer = json_of(server.client.get(url).bearer_auth(token).send().await.unwrap()).await;
        (answer["profiles"].clone(), answer["samples"].clone())
    };
    for (id, session) in [("a", "one"), ("b", "two"), ("c", "two"), ("d", "it's")] {
        assert_eq!(send(id, session).await, json!({ "accepted": 1, "known": 0 }));
    }
    let url = |query: &str| format!("{}/api/v1/sessions?{query}", server.url);
    let delete = async |query: &str, token: &str| {
        let response = server.client.delete(url(query)).bearer_auth(token).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(delete("app=shop&session=two", "public-key-of-the-shop").await.0, 401);
    assert_eq!(delete("app=a/b&session=two", token).await.0, 400);
    assert_eq!(delete("app=shop&session=", token).await.0, 400);
    assert_eq!(delete("app=shop", token).await.0, 400);
    // Those that were sent a moment ago are only in the log yet.
    assert_eq!(delete("app=shop&session=two", token).await, (200, r#"{"version":1,"profiles":2}"#.into()));
    assert_eq!(profiles().await, (json!(2), json!(10)));
    let command = |session: &str| {
        let output =
            run(&["delete", "--app", "shop", "--session", session, "--url", &server.url, "--token", token]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(command("it's"), (Some(0), "1 profile was deleted\n".into()));
    assert_eq!(command("nobody"), (Some(0), "0 profiles were deleted\n".into()));
    // Sent again, it is a new profile.
    assert_eq!(send("b", "two").await, json!({ "accepted": 1, "known": 0 }));
    assert_eq!(send("a", "one").await, json!({ "accepted": 0, "known": 1 }));
    assert_eq!(delete("app=shop&session=two", token).await.1, r#"{"version":1,"profiles":1}"#);
    assert_eq!(profiles().await, (json!(1), json!(5)));
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_those_of_prometheus() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &OFTEN);
    server.send(profile("a", 3).to_string()).await;
    assert_eq!(metric(&server, "selfprof_log_waiting_segments").await, 1.0);
    assert!(metric(&server, "selfprof_log_waiting_bytes").await > 100.0);
    server.wait_for(1).await;
    wait_for(&server, "selfprof_upkeep_runs_total", 1.0).await;
    assert_eq!(metric(&server, "selfprof_log_waiting_segments").await, 0.0);
    assert_eq!(metric(&server, "selfprof_log_waiting_age_seconds").await, 0.0);
    let response = server.client.get(format!("{}/metrics", server.url)).send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    let text = response.text().await.unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let lines = [
        "# HELP selfprof_profiles_accepted Profiles that are on the disk.",
        "# TYPE selfprof_profiles_accepted counter",
        "selfprof_profiles_accepted_total 1",
    ];
    assert!(text.contains(&lines.join("\n")), "{text}");
}
