//! `selfprof report` as it is typed. The page itself is tested in a browser, in `report/test`.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use support::{output, selfprof, text};

const MARKS: &str = "tests/fixtures/marks.json";

/// A package whose page is a stand-in: what is tested here is what is put into it.
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
fn a_report_holds_its_traces_where_the_page_wants_them() {
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
fn failures_say_what_to_do() {
    #[track_caller]
    fn check(arguments: &[&str], package: &std::path::Path, code: i32, expected: &str) {
        let run = output(selfprof().arg("report").args(arguments).env("SELFPROF_NPM", package));
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
    }
    let package = package();
    check(&["nothing.json"], package.path(), 2, "cannot open nothing.json");
    check(&["tests/report.rs"], package.path(), 1, "cannot read tests/report.rs");
    check(&[MARKS, "-o", "no/such/folder.html"], package.path(), 1, "`-o FILE` writes the report elsewhere");
    check(&[], package.path(), 2, "Usage: selfprof report");
    fs::remove_file(package.path().join("report/index.html")).unwrap();
    check(&[MARKS], package.path(), 1, "`cargo xtask build` makes it");
}

#[test]
fn the_server_answers_this_machine_alone() {
    let package = package();
    let mut server = selfprof()
        .args(["report", "--serve", MARKS])
        .env("SELFPROF_NPM", package.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map(Ending)
        .unwrap();
    // It tells first what is wrong with the trace.
    let mut said = BufReader::new(server.0.stderr.take().unwrap()).lines();
    let line = said.find_map(|line| line.ok().filter(|line| line.contains("http://"))).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let ask = |request: &str, host: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let port = address.split(':').nth(1).unwrap();
    let good = ask("GET /", &address);
    assert!(good.starts_with("HTTP/1.1 200") && good.contains("selfprof-traces"), "{good}");
    assert!(ask("GET /", &format!("localhost:{port}")).starts_with("HTTP/1.1 200"));
    assert!(ask("GET /", &format!("evil.test:{port}")).starts_with("HTTP/1.1 421"));
    assert!(ask("GET /etc/passwd", &address).starts_with("HTTP/1.1 404"));
    assert!(ask("POST /", &address).starts_with("HTTP/1.1 405"));
}

/// Ends the program with the test, also when that fails.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
