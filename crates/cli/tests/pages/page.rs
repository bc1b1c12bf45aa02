//! Tests of `selfprof page`.

use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::process::{Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::page_server::PageServer;
use crate::processes::{await_end, children};
use crate::selfprof;
use crate::support::{output, text};

fn page(arguments: &[&str]) -> Output {
    output(selfprof().arg("page").args(arguments))
}

#[track_caller]
fn check(output: &Output, code: i32, stdout: &str, stderr: &[&str]) {
    let actual = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(code), stdout), "{actual}");
    for part in stderr {
        assert!(actual.contains(part), "{part} is not in\n{actual}");
    }
}

const BUSY: &str = "tests/fixtures/pages/busy.html";

#[test]
fn console_log_goes_to_stdout_and_the_rest_to_stderr() {
    let wait_for_the_error = ["--wait", "idle", BUSY];
    let output = page(&wait_for_the_error);
    let expected =
        ["careful\n", "page error: Uncaught TypeError: nobody catches this\n", "page: 1 uncaught error\n"];
    check(&output, 0, "sum 89999995\n", &expected);
    assert!(!text(&output.stderr).contains("trace:"));
}

#[test]
fn a_load_is_profiled_from_its_first_script() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("load.json.gz");
    let output = page(&["-o", path.to_str().unwrap(), "--top", "3", BUSY]);
    check(
        &output,
        0,
        "sum 89999995\n",
        &["self ms", "sum", "busy.js:1:13", "samples: ", " idle or elsewhere", "trace: "],
    );
    assert_eq!(fs::read(&path).unwrap()[..2], [0x1f, 0x8b]);
    // The page has no Document-Policy that would allow profiling.
    let top = output_of_top(&path);
    assert!(top.contains("sum") && top.contains("busy.js:1:13"), "{top}");
}

/// Whatever fills it, and whether V8 counts that or not.
#[test]
fn the_process_of_a_page_has_a_limit_of_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fill.html");
    fs::write(&path, "<script>const keep = []; for (;;) keep.push(new Array(1_000_000).fill(1.5));</script>")
        .unwrap();
    let told =
        "error: the pages took more than 400 MB of memory\n\nhint: `--memory-limit MB` allows more memory\n";
    check(&page(&["--memory-limit", "400", path.to_str().unwrap()]), 1, "", &[told]);
    // After the load, too.
    fs::write(
        &path,
        "<script>setTimeout(() => { for (const keep = [];;) keep.push(new Array(1_000_000).fill(1.5)); }, 100)</script>",
    )
    .unwrap();
    check(&page(&["--memory-limit", "400", "--wait", "60000", path.to_str().unwrap()]), 1, "", &[told]);
}

/// A page cannot keep lines from a reader that is slow, and stdout stays as it was for others that have it.
#[test]
fn no_line_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lines.html");
    fs::write(&path, "<script>for (let i = 0; i < 20; i++) console.log('x'.repeat(10_000) + i);</script>")
        .unwrap();
    let mut child = selfprof().arg("page").arg(&path).stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = child.stdout.take().unwrap();
    // More than a pipe holds waits meanwhile.
    thread::sleep(Duration::from_secs(3));
    let mut printed = String::new();
    reader.read_to_string(&mut printed).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(printed.lines().count(), 20);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = selfprof().arg("page").arg(&path).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write the page's console messages to stdout"));
}

fn output_of_top(path: &std::path::Path) -> String {
    text(&output(selfprof().arg("top").arg(path)).stdout)
}

/// `--root` allows the script outside the page's folder, and the table shows original locations.
#[test]
fn the_table_shows_original_locations() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("load.json");
    let options = ["-o", path.to_str().unwrap(), "--root", "tests/fixtures"];
    let page_of = |more: &[&str]| page(&[&options, more, &["tests/fixtures/pages/minified.html"]].concat());
    check(&page_of(&[]), 0, "number\n", &["src/app.ts:"]);
    check(&page_of(&["--no-source-maps"]), 0, "number\n", &["source-maps/app.min.js:1:"]);
}

#[test]
fn the_trace_is_named_after_the_page() {
    let site = PageServer::serve(&[("/", "<script>for (let i = 0; i < 1e6; i++);</script>")]);
    let directory = tempfile::tempdir().unwrap();
    let mut command = selfprof();
    let npm = crate::support::npm().canonicalize().unwrap();
    command.current_dir(directory.path()).env("SELFPROF_NPM", npm);
    let output = output(command.args(["page", "--profile-load", "--top", "0", &site.url("/")]));
    let name =
        format!("{}.selfprof.json", site.origin.trim_start_matches("http://").replace(['.', ':'], "-"));
    check(&output, 0, "", &[&format!("trace: {name} (")]);
    assert!(directory.path().join(name).is_file());
}

#[test]
fn wait_idle_waits_for_requests_after_the_load() {
    let site = PageServer::serve(&[
        ("/", "<script>onload = () => fetch('/late').then((r) => r.text()).then(console.log)</script>"),
        ("/late", "late"),
    ]);
    check(&page(&["--wait", "idle", &site.url("/")]), 0, "late\n", &[]);
}

#[test]
fn load_errors_come_with_hints() {
    let site = PageServer::serve(&[]);
    check(&page(&[&site.url("/gone")]), 1, "", &["/gone returned HTTP status 404\n", "hint: "]);
    check(&page(&["http://127.0.0.1:2/"]), 1, "", &["ECONNREFUSED", "hint: no server is listening there"]);
    check(
        &page(&["http://name.invalid/"]),
        1,
        "",
        &["name.invalid", "hint: the host name cannot be resolved"],
    );
    check(&page(&["--jsdom", "/nowhere", BUSY]), 1, "", &["jsdom was not found at /nowhere", "npm install"]);
}

#[test]
fn the_timeout_ends_an_endless_loop() {
    let output = page(&["--timeout", "500", "data:text/html,<script>for(;;);</script>"]);
    check(&output, 1, "", &["took longer than 500 ms", "hint: `--timeout MS`"]);
}

/// Killing `selfprof` leaves it no chance to clean up, yet the page host ends.
#[test]
fn the_page_host_ends_when_selfprof_is_killed() {
    let mut process = selfprof()
        .args(["page", "--timeout", "600000", "data:text/html,<script>console.log('in');for(;;);</script>"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "in\n");
    let hosts = children(process.id());
    assert_eq!(hosts.len(), 1);
    process.kill().unwrap();
    process.wait().unwrap();
    await_end(hosts[0]);
}

#[test]
fn text_that_is_not_unicode_or_changes_its_direction_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hostile.html");
    let html = r"<script>
        document.title = '\ud800';
        console.log('a\ud800b');
        console.log('a\u202eb\u2066c');
        queueMicrotask(() => { throw new Error('\udfff'); });
        console.log('end');
        </script>";
    fs::write(&path, html).unwrap();
    let output = page(&["--wait", "idle", path.to_str().unwrap()]);
    check(&output, 0, "a\u{FFFD}b\na\u{FFFD}b\u{FFFD}c\nend\n", &["page error: Uncaught Error: \u{FFFD}\n"]);
}
