//! Programs do the same instrumented as plain: their output, their errors and their completion values.

#![forbid(unsafe_code)]

use selfprof_instrument::{Calls, Goal, Options, instrument, instrument_calls};
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

const CASES: &str = include_str!("semantics/cases.txt");

/// Instruments as much as possible, so that each hazard is met.
fn options(goal: Goal, has_fallback: bool) -> Options {
    Options { goal, min_statements: 0, has_fallback, stack_bytes: 256 << 20, ..Options::default() }
}

#[test]
fn programs_do_the_same() {
    let mut lines = String::new();
    for case in CASES.split("//# ").skip(1) {
        let (name, plain) = case.split_once('\n').expect("a case has a name");
        let is_module = name.starts_with("module");
        let goal = if is_module { Goal::Module } else { Goal::Script };
        let instrumented = |has_fallback, is_traced| {
            let plain = plain.to_owned();
            let on_thread = std::thread::Builder::new()
                .stack_size(256 << 20)
                .spawn(move || {
                    let options = options(goal, has_fallback);
                    let calls = Calls { first_id: 0, is_chosen: &|_| true };
                    if is_traced {
                        instrument_calls(&plain, &options, &calls)
                    } else {
                        instrument(&plain, &options)
                    }
                })
                .expect("a thread");
            let result = on_thread.join().expect("no panic");
            result.unwrap_or_else(|problem| panic!("{name}: {problem}")).text
        };
        lines += &json!({
            "name": name,
            "kind": if is_module { "module" } else { "script" },
            "plain": plain,
            "instrumented": instrumented(false, false),
            "withFallback": instrumented(true, false),
            "traced": instrumented(false, true),
            "tracedWithFallback": instrumented(true, true),
        })
        .to_string();
        lines.push('\n');
    }
    let node = std::env::var_os("SELFPROF_NODE").unwrap_or_else(|| "node".into());
    let mut child = Command::new(node)
        .args(["--experimental-vm-modules", "--no-warnings"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/semantics/run.cjs"))
        .env_remove("NODE_OPTIONS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Node runs");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("Node reads");
    let output = child.wait_with_output().expect("Node ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
