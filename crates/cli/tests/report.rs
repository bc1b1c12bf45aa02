//! Tests of `selfprof report`. The page itself is tested in a browser, in `ui/report/test`.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use support::{output, selfprof, text};

const MARKS: &str = "tests/fixtures/marks.json";

/// A package with a minimal report template.
fn package() -> tempfile::TempDir {
    let package = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("package.json", "{}"),
        ("run.cjs", ""),
        ("report/index.html", "<html><!--selfprof-traces--><script>show()</script></html>"),
    ] {
        let path = package.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    package
}

#[test]
fn traces_replace_the_placeholder_of_the_template() {
    let package = package();
    let run = output(selfprof().args(["report", MARKS, "-o", "-"]).env("SELFPROF_NPM", package.path()));
    assert!(run.status.success(), "{}", text(&run.stderr));
    let html = text(&run.stdout);
    let (before, rest) = html.split_once(r#"<script type="text/plain" id="selfprof-traces">"#).unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    assert_eq!((before, after), ("<html>", "<script>show()</script></html>"));
    assert!(
        data.len() > 100 && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    );
}

#[test]
fn files_together_have_no_common_time_axis() {
    #[track_caller]
    fn check(arguments: &[&str], expected: bool) {
        let package = package();
        let run = output(
            selfprof().args(["report", "-o", "-"]).args(arguments).env("SELFPROF_NPM", package.path()),
        );
        assert!(run.status.success(), "{}", text(&run.stderr));
        assert_eq!(text(&run.stderr).contains("no common time axis"), expected, "{}", text(&run.stderr));
    }
    check(&[MARKS, MARKS, "--together"], true);
    check(&[MARKS, MARKS], false);
    check(&[MARKS, "--together"], false);
}

#[test]
fn errors_come_with_hints() {
    #[track_caller]
    fn check(arguments: &[&str], package: &std::path::Path, code: i32, expected: &str) {
        let run = output(selfprof().arg("report").args(arguments).env("SELFPROF_NPM", package));
        let stderr = text(&run.stderr);
        assert_eq!(run.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    let package = package();
    check(&["nothing.json"], package.path(), 2, "cannot open nothing.json");
    check(&["tests/report.rs"], package.path(), 1, "cannot read tests/report.rs");
    check(
        &[MARKS, "-o", "no/such/folder.html"],
        package.path(),
        1,
        "`-o FILE` writes the report to another path",
    );
    check(&[], package.path(), 2, "Usage: selfprof report");
    fs::remove_file(package.path().join("report/index.html")).unwrap();
    check(&[MARKS], package.path(), 1, "`cargo xtask build` builds it");
}

#[test]
fn the_server_refuses_foreign_hosts_paths_and_methods() {
    let package = package();
    let mut server = selfprof()
        .args(["report", "--serve", MARKS])
        .env("SELFPROF_NPM", package.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map(KillOnDrop)
        .unwrap();
    // Warnings about the trace come before the address.
    let mut lines = BufReader::new(server.0.stderr.take().unwrap()).lines();
    let line = lines.find_map(|line| line.ok().filter(|line| line.contains("http://"))).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let response = |request: &str, host: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    };
    let port = address.split(':').nth(1).unwrap();
    let good = response("GET /", &address);
    assert!(good.starts_with("HTTP/1.1 200") && good.contains("selfprof-traces"), "{good}");
    assert!(response("GET /", &format!("localhost:{port}")).starts_with("HTTP/1.1 200"));
    assert!(response("GET /", &format!("evil.test:{port}")).starts_with("HTTP/1.1 421"));
    let second = format!("{address}\r\nHost: evil.test:{port}");
    assert!(response("GET /", &second).starts_with("HTTP/1.1 421"));
    assert!(response("GET /etc/passwd", &address).starts_with("HTTP/1.1 404"));
    assert!(response("POST /", &address).starts_with("HTTP/1.1 405"));
}

/// Kills the process at the end of the test, even if the test fails.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
