//! Profiles at URLs, in the place of files.

use std::fs;
use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::server::{Certificates, Request, Server, proxy};
use crate::support::{output, selfprof, text};

const PROFILE: &str = r#"{"frames":[{"name":"once"}],"resources":[],"stacks":[{"frameId":0}],"samples":[{"timestamp":1,"stackId":0},{"timestamp":2,"stackId":0}]}"#;

fn gzipped() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(PROFILE.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A profile at every path but some.
fn answer(request: &Request) -> (String, Vec<u8>) {
    let (head, body) = match request.path.split('?').next().unwrap() {
        "/page" => ("200 OK\r\ncontent-type: text/html; charset=utf-8\r\n", b"<p>".to_vec()),
        "/private.json" if !request.has("authorization: Basic bWU6d29yZA==") => {
            ("401 Unauthorized\r\n", Vec::new())
        }
        "/gone.json" => ("404 Not Found\r\n", Vec::new()),
        "/short.json" => ("200 OK\r\ncontent-length: 1000\r\n", PROFILE.into()),
        "/trace.json.gz" => ("200 OK\r\ncontent-type: application/gzip\r\n", gzipped()),
        "/encoded.json" => ("200 OK\r\ncontent-encoding: gzip\r\n", gzipped()),
        "/moved.json" => ("302 Found\r\nlocation: /trace.json\r\n", Vec::new()),
        "/loop.json" => ("302 Found\r\nlocation: /loop.json\r\n", Vec::new()),
        "/plain.json" => ("302 Found\r\nlocation: http://localhost:1/trace.json\r\n", Vec::new()),
        _ => ("200 OK\r\n", PROFILE.into()),
    };
    (head.to_owned(), body)
}

/// Runs a command, which succeeds, and returns its stdout.
#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = output(command);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    text(&output.stdout)
}

/// Runs a command, which fails, and checks what it says.
#[track_caller]
fn fails(command: &mut Command, expected: &[&str]) -> String {
    let output = output(command);
    let messages = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(expected.iter().all(|part| messages.contains(part)), "{messages}");
    messages
}

fn top(url: &str) -> Command {
    let mut command = selfprof();
    command.args(["top", url]);
    command
}

#[test]
fn each_command_reads_urls() {
    let server = Server::start(answer);
    let url = |path: &str| format!("http://{}{path}", server.address);
    for path in ["/trace.json?key=7", "/trace.json.gz", "/encoded.json", "/moved.json", "/api/v1/profiles/7"]
    {
        assert!(succeeds(&mut top(&url(path))).contains("once"), "{path}");
    }
    let converted = succeeds(selfprof().args(["convert", &url("/a.json"), "-o", "-", "--to", "w3c"]));
    assert!(converted.contains("once"), "{converted}");
    let compared = succeeds(selfprof().args(["diff", &url("/a.json"), &url("/b.json")]));
    assert!(compared.contains("no function changed significantly"), "{compared}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.html");
    let report = output(selfprof().args(["report", &url("/trace.json?key=7"), "-o"]).arg(&file));
    assert!(report.status.success(), "{}", text(&report.stderr));
    assert!(fs::metadata(file).unwrap().len() > 0);
}

#[test]
fn certificates_are_checked() {
    let certificates = Certificates::new(&["localhost"]);
    let server = Server::with_tls(&certificates, answer);
    let url = |host: &str, path: &str| format!("https://{host}:{}{path}", server.address.port());
    let trusting = |url: &str| {
        let mut command = top(url);
        command.env("SSL_CERT_FILE", certificates.authority());
        command
    };
    assert!(succeeds(&mut trusting(&url("localhost", "/trace.json"))).contains("once"));
    fails(
        &mut top(&url("localhost", "/trace.json?key=7")),
        &[
            &format!("cannot read {}: the certificate", url("localhost", "/trace.json")),
            "of an unknown authority",
            "hint: SSL_CERT_FILE",
        ],
    );
    fails(&mut trusting(&url("127.0.0.1", "/trace.json")), &["the certificate of the server is not valid"]);
    // The other way round, from http: to https:, a redirect is followed.
    fails(&mut trusting(&url("localhost", "/plain.json")), &["redirect: it leads from https: to http:"]);
    let to_tls = format!("301 Moved Permanently\r\nlocation: {}\r\n", url("localhost", "/trace.json"));
    let plain = Server::start(move |_: &Request| (to_tls.clone(), ""));
    assert!(succeeds(&mut trusting(&format!("http://{}/trace.json", plain.address))).contains("once"));
}

#[test]
fn errors_say_what_to_do() {
    let server = Server::start(answer);
    let url = |path: &str| format!("http://{}{path}", server.address);
    fails(
        &mut top(&url("/page")),
        &["it is a web page, not a profile", "hint: give the URL of the file itself"],
    );
    fails(&mut top(&url("/gone.json?key=7")), &["/gone.json: the server answers 404 Not Found"]);
    fails(&mut top(&url("/short.json")), &["/short.json: Peer disconnected"]);
    fails(&mut top(&url("/loop.json")), &["redirect: there are more than 3"]);
    fails(
        &mut top("http://127.0.0.1:1/a.json"),
        &["cannot read http://127.0.0.1:1/a.json: Connection refused"],
    );
    fails(&mut top("http://no-such-host.invalid/a.json"), &["failed to lookup address"]);
    let wrong = output(&mut top("http:///"));
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn passwords_are_sent_and_not_shown() {
    let server = Server::start(answer);
    let private = format!("http://{}/private.json", server.address);
    let with_user = private.replace("//", "//me:word@");
    assert!(succeeds(&mut top(&with_user)).contains("once"));
    fails(&mut top(&private), &["401 Unauthorized", "hint: a user and a password may be in the URL"]);
    let said = fails(&mut top(&with_user.replace("private", "gone")), &["/gone.json"]);
    assert!(!said.contains("word"), "{said}");
    // The token of a collector is for a collector.
    succeeds(top(&format!("http://{}/trace.json", server.address)).env("SELFPROF_COLLECTOR_TOKEN", "t0ken"));
    assert!(
        !server.requests.try_iter().any(|request| request.head.iter().any(|line| line.contains("t0ken")))
    );
}

#[test]
fn proxies_are_used() {
    let certificates = Certificates::new(&["profiles.invalid"]);
    let server = Server::with_tls(&certificates, answer);
    let (address, requests) = proxy(Some(server.address));
    let through = |url: &str, address: &str| {
        let mut command = top(url);
        command.env("HTTPS_PROXY", address).env("SSL_CERT_FILE", certificates.authority());
        command
    };
    let (url, address) = ("https://profiles.invalid/trace.json", format!("http://{address}"));
    assert!(succeeds(&mut through(url, &address)).contains("once"));
    assert!(requests.recv().unwrap().starts_with("CONNECT profiles.invalid:443 "));
    fails(through(url, &address).env("NO_PROXY", ".invalid"), &["failed to lookup address"]);
    let (refusing, _requests) = proxy(None);
    fails(
        &mut through(url, &format!("http://{refusing}")),
        &["the proxy refuses to connect", "hint: HTTPS_PROXY names the proxy; NO_PROXY"],
    );
    // No proxy reaches this machine.
    let here = Server::start(answer);
    succeeds(&mut through(&format!("http://{}/trace.json", here.address), &format!("http://{refusing}")));
}
