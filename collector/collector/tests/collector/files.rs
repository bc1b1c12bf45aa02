//! `import`: which files it reads, and when their profiles were recorded.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::server::{Server, profile, run};

fn fixture(name: &str) -> String {
    format!("{}/../../crates/formats/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Imports a file, and asks for the time and the samples of its profiles.
async fn imported(arguments: &[&str]) -> Vec<(String, i64)> {
    let folder = tempfile::tempdir().unwrap();
    let output =
        run(&[&["import", "--app", "shop", "--data", folder.path().to_str().unwrap()], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let server = Server::start(folder.path(), &[]);
    let list = server.ask("/api/v1/profiles?app=shop&from=2000-01-01").await;
    let row = |row: &serde_json::Value| {
        (row["time"].as_str().unwrap().to_owned(), row["samples"].as_i64().unwrap())
    };
    list["profiles"].as_array().unwrap().iter().map(row).collect()
}

/// A file that was last written on the 2nd of January 2020.
fn written(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_923_200);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_of_files_have_the_time_of_the_file() {
    #[track_caller]
    fn check(found: &[(String, i64)], time: &str, samples: Option<i64>) {
        let [(found, count)] = found else { panic!("{found:?}") };
        assert!(found.starts_with(time), "{found}, not {time}");
        assert!(samples.is_none_or(|samples| samples == *count), "{count}");
    }
    let folder = tempfile::tempdir().unwrap();
    // A profile in pprof's format says when it began.
    let go = fixture("pprof/go-1.27-cpu.pb.gz");
    check(&imported(&[&go]).await, "2026-11-23T10:28", Some(52));
    check(&imported(&["--time", "2026-11-20", &go]).await, "2026-11-20T00:00:00.000Z", Some(52));
    // V8's does not.
    let v8 = fs::read(fixture("cpuprofile/node-20-small.cpuprofile")).unwrap();
    check(&imported(&[&written(folder.path(), "a.cpuprofile", &v8)]).await, "2020-01-02T00:00:00.000Z", None);
    // Lines may.
    let line = |time: serde_json::Value| {
        let mut line = profile("a", 3);
        line["time"] = time;
        written(folder.path(), "a.jsonl", format!("{line}\n").as_bytes())
    };
    check(&imported(&[&line(json!(null))]).await, "2020-01-02T00:00:00.000Z", Some(3));
    check(&imported(&[&line(json!("2026-11-20T08:00:00Z"))]).await, "2026-11-20T08:00:00.000Z", Some(3));
    check(&imported(&[&line(json!(1_500_000_000_500_i64))]).await, "2017-07-14T02:40:00.500Z", Some(3));
    // What cannot be.
    check(&imported(&[&line(json!(-1e300))]).await, "2020-01-02", Some(3));
    check(&imported(&[&line(json!("9999-01-01"))]).await, "2020-01-02", Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_in_a_request_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut sent = profile("a", 3);
    sent["time"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(server.send(sent.to_string()).await.status(), 202);
    server.wait_for(1).await;
    assert_eq!(
        server.ask("/api/v1/profiles?app=shop&from=-1h").await["profiles"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn files_that_are_no_profiles_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, content: &[u8], expected: &str| {
        let path = written(folder.path(), name, content);
        let data = folder.path().join("data");
        let output = run(&["import", "--app", "shop", "--data", data.to_str().unwrap(), &path]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{error}");
    };
    check("a.txt", b"hello", "not JSON");
    check("a.json", b"{\"app\":5}\n", "a.json");
    let mut line = profile("a", 3);
    line["time"] = json!("yesterday");
    check("a.jsonl", line.to_string().as_bytes(), "time is \"yesterday\"");
    let heap = fs::read(fixture("pprof/go-1.27-heap.pb.gz")).unwrap();
    check("heap.pb.gz", &heap, "without times, of: alloc_objects");
}
