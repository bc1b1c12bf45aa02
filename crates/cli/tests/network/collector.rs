//! URLs of a collector in the place of files. The collector here is a server that knows a few answers; the tests of
//! `collector/collector` have a real one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::server::{Certificates, Request, Server};
use crate::support::{output, selfprof, text};

const FUNCTIONS: &str = r#"{"version":1,"profiles":2,"sessions":2,"samples":12,"busy":{"time":100},"idle":{"time":20},"functions":[]}"#;
const FLAME_GRAPH: &str = r#"{"version":1,"profiles":2,"sessions":2,
    "functions":[{"name":"main","resource":"https://a.example/a.js","line":1,"column":2},{"name":"slow","resource":"https://a.example/a.js","line":9,"column":1}],
    "nodes":[{"function":0,"parent":null,"selfTime":30,"totalTime":100},{"function":1,"parent":0,"selfTime":70,"totalTime":70}]}"#;
const DIFF: &str = r#"{"version":1,"tested":2,
    "base":{"profiles":10,"sessions":5,"busyTime":100},"new":{"profiles":12,"sessions":6,"busyTime":120},
    "functions":[{"name":"slow","resource":"a.js",
        "selfTime":{"base":10,"new":30,"difference":20,"differenceInterval":[15,25],"ratio":3,"ratioInterval":null,"probability":0.001,"verdict":"slower"},
        "totalTime":{"base":10,"new":30,"difference":20,"differenceInterval":null,"ratio":3,"ratioInterval":null,"probability":null,"verdict":"no-evidence"}}]}"#;
const PROFILE: &str = r#"{"frames":[{"name":"once"}],"resources":[],"stacks":[{"frameId":0}],"samples":[{"timestamp":1,"stackId":0},{"timestamp":2,"stackId":0}]}"#;

/// Starts a collector.
fn collector() -> Server {
    Server::start(answer)
}

fn answer(request: &Request) -> (String, &'static str) {
    let path = &request.path;
    let (status, body) = match path.split('?').next().unwrap() {
        _ if path.contains("secret") && !request.has("authorization: Bearer t0ken") => {
            ("401 Unauthorized", r#"{"error":"a token is needed"}"#)
        }
        "/api/v1/functions" => ("200 OK", FUNCTIONS),
        "/api/v1/flamegraph" => ("200 OK", FLAME_GRAPH),
        "/api/v1/diff" => ("200 OK", DIFF),
        "/api/v1/profiles/0a" => ("200 OK", PROFILE),
        _ => ("404 Not Found", "nothing"),
    };
    (format!("{status}\r\n"), body)
}

/// Runs `selfprof` and returns its exit code, its stdout and its stderr.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = output(selfprof().env_remove("SELFPROF_COLLECTOR_TOKEN").args(arguments));
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_selection_is_a_sum_and_says_so() {
    let Server { address, requests } = collector();
    let url = format!("http://{address}/?app=shop&release=1.4&where=span = 'checkout'");
    let (code, table, messages) = run(&["top", &url]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(table.contains("slow") && table.contains("70.0") && table.contains("100.0"), "{table}");
    assert!(
        messages.contains("a sum of 2 profiles of 2 sessions: it has times, but no time axis"),
        "{messages}"
    );
    let path = "where=release%20%3D%20%271%2E4%27%20and%20%28span%20%3D%20%27checkout%27%29";
    assert!(requests.recv().unwrap().path.contains(path));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.html");
    let (code, _, messages) = run(&["report", &url, "-o", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(file.exists());
}

#[test]
fn a_single_profile_is_as_it_was() {
    let Server { address, .. } = collector();
    let (code, table, messages) = run(&["top", &format!("http://{address}/api/v1/profiles/0a?app=shop")]);
    assert_eq!((code, messages.as_str()), (Some(0), ""));
    assert!(table.contains("once"), "{table}");
}

#[test]
fn two_selections_are_compared_by_the_collector() {
    let Server { address, requests } = collector();
    let url = |filter: &str| format!("http://{address}/?app=shop{filter}");
    let (code, table, messages) = run(&["diff", &url("&release=1.3"), &url("")]);
    assert_eq!((code, messages.as_str()), (Some(0), ""));
    assert!(
        table.contains("10.0 ms")
            && table.contains("+20.0 (+15.0 to +25.0)")
            && table.contains("slower: slow  a.js"),
        "{table}"
    );
    assert!(table.contains("base: 10 profiles of 5 sessions"), "{table}");
    let request = requests.recv().unwrap().path;
    assert!(request.contains("base=release%20%3D%20%271%2E3%27&new=release%20like%20%27%25%27"), "{request}");
    let (_, json, _) = run(&["diff", "--json", &url("&release=1.3"), &url("&release=1.4")]);
    assert!(json.starts_with(DIFF) && json.ends_with('\n'), "{json}");
    // Of another period, the sums are compared.
    let (code, _, messages) = run(&["diff", &url("&from=-2d"), &url("&from=-1d")]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(messages.contains("p-values are too small"), "{messages}");
}

#[test]
fn errors_say_what_to_do() {
    let Server { address, .. } = collector();
    let check = |url: &str, expected: &[&str]| {
        let (code, _, messages) = run(&["top", url]);
        assert_ne!(code, Some(0));
        assert!(expected.iter().all(|part| messages.contains(part)), "{messages}");
    };
    let url = |query: &str| format!("http://{address}/{query}");
    check(&url("?app=secret"), &["a token is needed", "hint: set SELFPROF_COLLECTOR_TOKEN"]);
    check(&url("api/v1/profiles/0b?app=shop"), &["404 Not Found", "hint: is "]);
    check(
        "http://127.0.0.1:1/?app=shop",
        &["cannot ask the collector at 127.0.0.1:1", "hint: `selfprof-collector serve`"],
    );
    check(&url("api/v1/apps?app=shop"), &["/api/v1/apps does not name any profiles", "hint: such a URL is"]);
    let mut with_token = selfprof();
    with_token.env("SELFPROF_COLLECTOR_TOKEN", "t0ken").args(["top", &url("?app=secret")]);
    assert!(output(&mut with_token).status.success());
}

#[test]
fn a_collector_with_tls() {
    let certificates = Certificates::new(&["localhost"]);
    let server = Server::with_tls(&certificates, answer);
    let url = format!("https://localhost:{}/?app=secret", server.address.port());
    let with_token = output(
        selfprof()
            .env("SSL_CERT_FILE", certificates.authority())
            .env("SELFPROF_COLLECTOR_TOKEN", "t0ken")
            .args(["top", &url]),
    );
    assert!(with_token.status.success(), "{}", text(&with_token.stderr));
    let (code, _, messages) = run(&["top", &url]);
    assert_eq!(code, Some(1));
    assert!(
        messages.contains("of an unknown authority") && messages.contains("hint: SSL_CERT_FILE"),
        "{messages}"
    );
}

#[test]
fn the_program_beside_this_one_gets_all_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("selfprof");
    fs::copy(env!("CARGO_BIN_EXE_selfprof"), &own).unwrap();
    let beside = folder.path().join("selfprof-collector");
    fs::write(&beside, "#!/bin/sh\nprintf '%s.' \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o755)).unwrap();
    let output = output(Command::new(own).args(["collector", "query", "--help", "--", "-x y"]));
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(7), "query.--help.--.-x y."));
}
