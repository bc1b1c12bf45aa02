//! What `selfprof` says: whole runs against the files in `tests/snapshots`. `BLESS=1` updates them.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{output, selfprof, text};

/// Compares the exit code and both streams of a run with the snapshot of this name.
#[track_caller]
fn check(name: &str, command: &mut Command) {
    let output = output(command);
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    let actual = format!(
        "$ selfprof {}\nexit code {:?}\n--- stdout\n{}--- stderr\n{}",
        words.join(" "),
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name).with_extension("txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "BLESS=1 updates {}", path.display());
}

/// A run with these words, split at spaces.
fn with(words: &str) -> Command {
    let mut command = selfprof();
    command.args(words.split(' '));
    command
}

#[test]
fn help() {
    check("help", &mut with("--help"));
    check("help-run", &mut with("run --help"));
    check("help-top", &mut with("top --help"));
}

#[test]
fn top() {
    let markers = "../formats/fixtures/w3c/chromium-156-markers-isolated.json";
    check("top", &mut with(&format!("top {markers}")));
    check("top-3", &mut with(&format!("top --top 3 {markers}")));
    check("top-json", &mut with(&format!("top --json --top 1 {markers}")));
    check("top-broken", &mut with("top tests/fixtures/broken.json"));
    let marks = "tests/fixtures/marks.json";
    check("top-marks", &mut with(&format!("top {marks}")));
    check("top-marks-1", &mut with(&format!("top --top 1 {marks}")));
    check("top-marks-json", &mut with(&format!("top --json --top 2 {marks}")));
}

#[test]
fn top_that_fails() {
    check("top-missing", &mut with("top nowhere.json"));
    check("top-not-a-trace", &mut with("top Cargo.toml"));
    check("top-empty", with("top -").stdin(Stdio::null()));
}

#[test]
fn run_that_fails_before_the_script() {
    let script = "tests/fixtures/scripts/busy.js";
    check("run-nothing", &mut with("run"));
    check("run-no-script", &mut with("run nowhere.js"));
    check("run-no-extension", &mut with("run tests/fixtures/scripts/module"));
    check("run-bad-interval", &mut with(&format!("run -i 0 {script}")));
    check("run-bad-mode", &mut with(&format!("run --mode sometimes {script}")));
    check("run-no-directory", &mut with(&format!("run -o nowhere/trace.json {script}")));
    check("run-output-is-directory", &mut with(&format!("run -o tests {script}")));
    check("run-no-node", with(&format!("run {script}")).env("PATH", ""));
    check("run-not-a-node", &mut with(&format!("run --node /bin/true {script}")));
    check("run-no-package", with(&format!("run {script}")).env("SELFPROF_NPM", "tests"));
}

/// A Node that is not supported, and a package without addons.
#[test]
fn run_without_an_addon() {
    let script = "tests/fixtures/scripts/busy.js";
    let node = |name: &str| format!("run --node tests/fixtures/nodes/{name} {script}");
    let package = "tests/fixtures/package";
    check("run-no-addon", with(&node("node-22")).env("SELFPROF_NPM", package));
    check("run-old-node", with(&node("node-18")).env("SELFPROF_NPM", package));
    check("run-no-addons", with(&node("node-on-arm")).env("SELFPROF_NPM", package));
}

#[test]
fn a_closed_pipe_is_quiet() {
    let mut child = with("top --json ../formats/fixtures/w3c/chromium-156-small.json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}
