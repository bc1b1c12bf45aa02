//! The tests of test262 have the same result instrumented as plain.
//!
//! `SELFPROF_TEST262` names a checkout of <https://github.com/tc39/test262>:
//!
//! ```text
//! SELFPROF_TEST262=test262 cargo test -p selfprof-instrument --test test262 -- --ignored --nocapture
//! ```
//!
//! The second test traces them: entries and exits must also nest.

#![forbid(unsafe_code)]

use selfprof_instrument::{Calls, Goal, Options, Problem, instrument, instrument_calls};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const STACK: usize = 256 << 20;

/// Folders of `test` without the features that code can see.
const FOLDERS: &[&str] = &[
    "language/arguments-object",
    "language/asi",
    "language/block-scope",
    "language/computed-property-names",
    "language/destructuring",
    "language/directive-prologue",
    "language/eval-code",
    "language/expressions",
    "language/function-code",
    "language/future-reserved-words",
    "language/global-code",
    "language/identifier-resolution",
    "language/literals/regexp",
    "language/module-code/top-level-await",
    "language/rest-parameters",
    "language/statementList",
    "language/statements",
    "language/types",
    "language/white-space",
    "annexB/language",
];

/// Tests that end Node 24 with a segmentation fault, plain.
const CRASHES: &[&str] = &["await-using-invalid-assignment-"];

/// Tests that compare the texts of functions, which differ when traced: each has its own number.
const COMPARE_TEXTS: &[&str] =
    &["computed-property-name-from-", "S11.6.1_A3.2_T1.2", "block-decl-func-skip-arguments"];

fn tests_in(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            tests_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "js")
            && !path.to_string_lossy().contains("_FIXTURE")
            && !CRASHES.iter().any(|crash| path.to_string_lossy().contains(crash))
        {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs a checkout of test262, which SELFPROF_TEST262 names"]
fn test262_has_the_same_results() {
    check(false);
}

#[test]
#[ignore = "needs a checkout of test262, which SELFPROF_TEST262 names"]
fn test262_has_the_same_results_traced() {
    check(true);
}

fn check(is_traced: bool) {
    let checkout = std::env::var_os("SELFPROF_TEST262").map(PathBuf::from);
    let checkout = checkout.expect("SELFPROF_TEST262 names a checkout of test262");
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || run(&checkout, is_traced));
    worker.expect("a thread").join().expect("the results are the same");
}

fn run(checkout: &Path, is_traced: bool) {
    let mut tests = Vec::new();
    for folder in FOLDERS {
        tests_in(&checkout.join("test").join(folder), &mut tests);
    }
    tests.sort();
    assert!(!tests.is_empty(), "{} has no tests", checkout.display());
    let node = std::env::var_os("SELFPROF_NODE").unwrap_or_else(|| "node".into());
    let mut child = Command::new(node)
        .args(["--experimental-vm-modules", "--no-warnings", "--expose-gc"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/test262/run.cjs"))
        .arg(checkout)
        .arg(if is_traced { "trace" } else { "sample" })
        .env_remove("NODE_OPTIONS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Node runs");
    let mut input = child.stdin.take().expect("a pipe");
    let output = child.stdout.take().expect("a pipe");
    let printed = std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).inspect(|line| println!("{line}")).last()
    });
    if is_traced {
        let compares =
            |path: &PathBuf| COMPARE_TEXTS.iter().any(|part| path.to_string_lossy().contains(part));
        let before = tests.len();
        tests.retain(|path| !compares(path));
        println!("{} tests that compare the texts of functions are left out", before - tests.len());
    }
    let (mut refused, mut unreadable) = (0, 0);
    let (mut functions, mut untraceable) = (0, 0);
    for path in &tests {
        let Ok(plain) = fs::read_to_string(path) else { continue };
        let header = plain.split("/*---").nth(1).and_then(|rest| rest.split("---*/").next()).unwrap_or("");
        let flags = header.split("flags:").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or("");
        let is_module = flags.contains("module");
        let is_strict = flags.contains("onlyStrict");
        // A test that must not parse is left alone if it does not parse here either.
        let is_negative = header.contains("negative:") && header.contains("phase: parse");
        let source = if is_strict { format!("\"use strict\";\n{plain}") } else { plain.clone() };
        let goal = if is_module { Goal::Module } else { Goal::Script };
        let options = Options { goal, min_statements: 0, stack_bytes: STACK / 2, ..Options::default() };
        let calls = Calls { first_id: 0, is_chosen: &|_| true };
        let result = if is_traced {
            instrument_calls(&source, &options, &calls)
        } else {
            instrument(&source, &options)
        };
        let instrumented = match result {
            Ok(instrumented) => {
                functions += instrumented.functions.len() - 1;
                untraceable += instrumented.untraceable.len();
                instrumented.text
            }
            Err(Problem::Syntax { .. }) if is_negative => {
                refused += 1;
                continue;
            }
            Err(problem) => {
                unreadable += 1;
                println!("{} is not instrumented: {problem}", path.display());
                continue;
            }
        };
        let line = json!({
            "name": path,
            "header": header,
            "module": is_module,
            "raw": flags.contains("raw"),
            "async": flags.contains("async"),
            "plain": source,
            "instrumented": instrumented,
        });
        if writeln!(input, "{line}").is_err() {
            break;
        }
    }
    drop(input);
    let last = printed.join().expect("no panic").unwrap_or_default();
    println!("{refused} tests of errors are refused, {unreadable} others are not instrumented");
    println!("{functions} functions, of which {untraceable} cannot be traced");
    assert!(child.wait().expect("Node ends").success(), "results differ");
    assert!(last.ends_with(" differ"), "Node has not run all tests: {last}");
}
