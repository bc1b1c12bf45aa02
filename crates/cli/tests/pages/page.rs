//! `selfprof page`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

use crate::processes::{await_end, children};
use crate::selfprof;
use crate::site::Site;
use crate::support::{output, text};

fn page(arguments: &[&str]) -> Output {
    output(selfprof().arg("page").args(arguments))
}

#[track_caller]
fn check(output: &Output, code: i32, stdout: &str, stderr: &[&str]) {
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(code), stdout), "{said}");
    for part in stderr {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
}

const BUSY: &str = "tests/fixtures/pages/busy.html";

#[test]
fn what_a_page_logs_is_data_and_the_rest_is_talk() {
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
    // No permission of the page was needed, and its policy is its own affair.
    let top = output_of_top(&path);
    assert!(top.contains("sum") && top.contains("busy.js:1:13"), "{top}");
}

fn output_of_top(path: &std::path::Path) -> String {
    text(&output(selfprof().arg("top").arg(path)).stdout)
}

/// What the page may load from, and the sources of what it has loaded.
#[test]
fn functions_are_shown_where_they_were_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("load.json");
    let words = ["-o", path.to_str().unwrap(), "--root", "tests/fixtures"];
    let page_of = |more: &[&str]| page(&[&words, more, &["tests/fixtures/pages/minified.html"]].concat());
    check(&page_of(&[]), 0, "number\n", &["src/app.ts:"]);
    check(&page_of(&["--no-source-maps"]), 0, "number\n", &["source-maps/app.min.js:1:"]);
}

#[test]
fn the_trace_is_named_after_the_page() {
    let site = Site::serve(&[("/", "<script>for (let i = 0; i < 1e6; i++);</script>")]);
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

/// What a page on the way logs is heard, and `--wait idle` waits for what was asked for.
#[test]
fn idle_is_when_nothing_is_on_its_way() {
    let site = Site::serve(&[
        ("/", "<script>onload = () => fetch('/late').then((r) => r.text()).then(console.log)</script>"),
        ("/late", "late"),
    ]);
    check(&page(&["--wait", "idle", &site.url("/")]), 0, "late\n", &[]);
}

#[test]
fn what_cannot_be_loaded_is_said_with_what_may_help() {
    let site = Site::serve(&[]);
    check(&page(&[&site.url("/gone")]), 1, "", &["/gone answered 404\n", "hint: "]);
    check(&page(&["http://127.0.0.1:2/"]), 1, "", &["ECONNREFUSED", "hint: nothing listens there"]);
    check(&page(&["http://name.invalid/"]), 1, "", &["name.invalid", "hint: the host's name has no address"]);
    check(&page(&["--jsdom", "/nowhere", BUSY]), 1, "", &["jsdom was not found at /nowhere", "npm install"]);
}

#[test]
fn an_endless_loop_is_ended() {
    let output = page(&["--timeout", "500", "data:text/html,<script>for(;;);</script>"]);
    check(&output, 1, "", &["took longer than 500 ms", "hint: `--timeout MS`"]);
}

/// The host has no chance to clean up when its user is killed, and ends all the same.
#[test]
fn the_host_does_not_outlive_its_user() {
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
