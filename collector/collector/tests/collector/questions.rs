//! Questions, their answers, and the commands that ask them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use selfprof_formats::w3c;
use serde_json::{Value, json};

use crate::server::{Server, profile, run};

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_those_of_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut marked = profile("a", 11);
    marked["entries"] =
        json!([{ "name": "checkout", "entryType": "measure", "startTime": 15, "duration": 20 }]);
    marked["rate"] = json!(0.5);
    server.send(marked.to_string()).await;
    server.send(profile("b", 11).to_string()).await;
    server.wait_for(2).await;
    let all = server.ask("/api/v1/functions?app=shop").await;
    assert_eq!((&all["profiles"], &all["sessions"], &all["samples"]), (&json!(2), &json!(2), &json!(22)));
    // 110 ms, and 110 ms of a sender that profiles every other visit.
    assert_eq!(all["busy"]["time"], 330.0);
    let slow = &all["functions"][0];
    assert_eq!(
        slow,
        &json!({ "name": "slow", "resource": "https://shop.example/app.js", "line": 9, "column": 3,
            "selfTime": 330.0, "totalTime": 330.0, "selfSamples": 22, "totalSamples": 22 })
    );
    // During the measure: the samples at 20 and 30 ms.
    let during = server.ask("/api/v1/functions?app=shop&where=span%20%3D%20'checkout'").await;
    assert_eq!((&during["profiles"], &during["busy"]["time"]), (&json!(1), &json!(40.0)));
    assert_eq!(server.ask("/api/v1/functions?app=shop&where=release%20%3D%20'1.3'").await["profiles"], 0);
    assert_eq!(server.ask("/api/v1/functions?app=other").await["profiles"], 0);
    let graph = server.ask("/api/v1/flamegraph?app=shop").await;
    assert_eq!(
        graph["nodes"][1],
        json!({ "function": 1, "parent": 0, "selfTime": 330.0, "totalTime": 330.0 })
    );
    for (path, expected) in [
        ("/api/v1/functions", "app is missing"),
        ("/api/v1/functions?app=a/b", "not a name of an application"),
        ("/api/v1/functions?app=shop&where=weight%20%3E%205", "the operator >"),
        ("/api/v1/functions?app=shop&from=yesterday", "not a time"),
        ("/api/v1/diff?app=shop&base=release%20%3D%20'1'", "new is missing"),
    ] {
        let response = server.client.get(format!("{}{path}", server.url)).send().await.unwrap();
        assert_eq!(response.status(), 400, "{path}");
        let text = response.text().await.unwrap();
        assert!(text.contains(expected), "{path}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_is_given_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut sent = profile("a", 5);
    sent["entries"] = json!([{ "name": "checkout", "entryType": "measure", "startTime": 5, "duration": 20 }]);
    server.send(sent.to_string()).await;
    server.wait_for(1).await;
    let list = server.ask("/api/v1/profiles?app=shop").await;
    assert_eq!((&list["profiles"][0]["page"], &list["profiles"][0]["samples"]), (&json!("/cart"), &json!(5)));
    let id = list["profiles"][0]["id"].as_str().unwrap();
    let trace = server.ask(&format!("/api/v1/profiles/{id}?app=shop")).await;
    assert_eq!(trace["samples"], sent["trace"]["samples"]);
    assert_eq!(trace["frames"][1]["name"], "slow");
    // Queries of URLs may be private.
    assert_eq!(trace["resources"], json!(["https://shop.example/app.js"]));
    assert_eq!(trace["entries"][0]["name"], "checkout");
    let shown = server.ask(&format!("/api/v1/profiles/{id}/timeline?app=shop")).await;
    assert_eq!((&shown["profile"]["page"], &shown["profile"]["busyTime"]), (&json!("/cart"), &json!(50.0)));
    let thread = &shown["trace"]["threads"][0];
    assert_eq!(thread["samples"]["delta"], json!([0, 10_000, 10_000, 10_000, 10_000]));
    assert_eq!(
        (&thread["samples"]["weightOf"], &thread["samples"]["weight"]),
        (&json!([0]), &json!([10_000]))
    );
    assert_eq!(
        (&thread["entries"]["names"], &thread["entries"]["start"]),
        (&json!(["checkout"]), &json!([5.0]))
    );
    let unknown = server.client.get(format!("{}/api/v1/profiles?app=shop&order=best", server.url));
    assert_eq!(unknown.send().await.unwrap().status(), 400);
    let (read, problems) = w3c::read(trace.to_string().as_bytes()).unwrap();
    assert_eq!((read.samples().len(), problems.is_empty()), (5, true));
    let missing = server.client.get(format!("{}/api/v1/profiles/0000000000000000?app=shop", server.url));
    assert_eq!(missing.send().await.unwrap().status(), 404);
}

/// The sessions in a file of profiles.
fn sessions_of(file: &Path) -> Vec<String> {
    let lines = BufReader::new(MultiGzDecoder::new(fs::File::open(file).unwrap())).lines();
    let session =
        |line: String| serde_json::from_str::<Value>(&line).unwrap()["session"].as_str().unwrap().to_owned();
    let sessions: BTreeSet<String> = lines.map(|line| session(line.unwrap())).collect();
    sessions.into_iter().collect()
}

/// The shop's profiles, recorded in Chromium.
fn shop() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shop")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_planted_regression_is_named_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let files = ["1.3", "1.4"].map(|release| shop().join(format!("profiles/{release}.jsonl.gz")));
    let files = files.each_ref().map(|file| file.to_str().unwrap());
    let output = run(&["import", "--data", data, "--time", "-1m", files[0], files[1]]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let server = Server::start(folder.path(), &[]);
    let url = server.url.clone();
    let ask = move |arguments: &[&str]| {
        let output = run(&[arguments, &["--app", "shop", "--url", &url]].concat());
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let diff =
        ["query", "diff", "--base", "release = '1.3'", "--new", "release = '1.4'", "--fail-on-regression"];
    // Without maps, functions cannot be matched.
    let (code, _, error) = ask(&diff);
    assert_eq!(code, Some(1));
    for release in ["1.3", "1.4"] {
        let expected = format!("warning: {release}: ");
        assert!(error.contains(&expected) && error.contains("and there are no source maps"), "{error}");
    }
    // Maps that come late name what is there.
    for release in ["1.3", "1.4"] {
        let folder = shop().join("releases").join(release);
        let (code, _, error) = ask(&["maps", "upload", "--release", release, folder.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{error}");
    }
    let (code, text, error) = ask(&diff);
    assert_eq!((code, error.as_str()), (Some(1), ""));
    let slower: Vec<&str> =
        text.lines().filter(|line| line.contains("slower: ") || line.contains("faster: ")).collect();
    assert_eq!(slower.len(), 1, "{text}");
    assert!(slower[0].contains("slower: cartDiscount  src/prices.ts"), "{text}");
    let (code, text, _) = ask(&["query", "functions", "--where", "release = '1.4'", "--top", "5"]);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("tokenize  src/text.ts:") && text.contains("810 profiles of 352 sessions"),
        "{text}"
    );
    // A slip in a condition does not pass for equal releases.
    let (code, _, error) = ask(&[
        "query",
        "diff",
        "--base",
        "release = '1.3'",
        "--new",
        "release = '1.5'",
        "--fail-on-regression",
    ]);
    assert_eq!(code, Some(2));
    assert!(error.contains("no profile meets the condition of --new"), "{error}");
    // Other sessions of the same release: the same program.
    let sessions = sessions_of(Path::new(files[0]));
    let some = |sessions: &[String]| format!("session in ('{}')", sessions.join("', '"));
    let same = [
        "query",
        "diff",
        "--base",
        &some(&sessions[..90]),
        "--new",
        &some(&sessions[90..180]),
        "--fail-on-regression",
    ];
    let (code, text, _) = ask(&same);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("no function is slower or faster") && text.contains("of 90 sessions"), "{text}");
    server.stop();
    // Everything is in the tables after a stop.
    let mut left = fs::read_dir(folder.path().join("log")).unwrap().map(|entry| entry.unwrap().path());
    assert!(left.all(|path| path.extension().is_none()));
}
