//! `selfprof run` of programs with several processes and threads, and of parts of a run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use selfprof_formats::{ReadOptions, Thread, w3c};
use selfprof_trace::Micros;

use super::{TestDirectory, share};
use crate::support::{output, selfprof, text};

/// All threads of a trace.
#[track_caller]
pub fn threads(directory: &TestDirectory, name: &str) -> Vec<Thread> {
    let file = fs::File::open(directory.path(name)).expect(name);
    let threads = w3c::read_threads(file, &ReadOptions::default()).unwrap();
    threads
        .into_iter()
        .map(|(thread, problems)| {
            assert_eq!(problems.list(), []);
            thread
        })
        .collect()
}

fn span(thread: &Thread) -> (Micros, Micros) {
    thread.trace.span().unwrap_or_default()
}

#[test]
fn one_file_holds_all_threads() {
    let directory = TestDirectory::new();
    let Output { status, stderr, .. } = output(&mut directory.run("--top 0 -o out.json", "workers.js", ""));
    assert!(status.success(), "{}", text(&stderr));
    assert_eq!(directory.files(), ["out.json"], "{}", text(&stderr));
    let threads = threads(&directory, "out.json");
    let names: Vec<&str> = threads.iter().map(|thread| &*thread.name).collect();
    assert_eq!(names, ["main-thread", "worker-1", "worker-2"]);
    let [main, workers @ ..] = &threads[..] else { unreachable!() };
    for thread in &threads {
        assert!(share(&thread.trace, "spin") > 0.02, "{}: {}", thread.name, text(&stderr));
        let [of_main, of_thread] = [main, thread].map(|thread| thread.process.as_ref().unwrap());
        assert_eq!((of_thread.pid, &of_thread.command), (of_main.pid, &of_main.command));
    }
    // On the time axis of the main thread.
    for worker in workers {
        assert!(span(worker).0 > span(main).0 && span(worker).1 < Micros(60_000_000));
    }
}

#[test]
fn child_processes_are_in_the_same_file() {
    let directory = TestDirectory::new();
    let Output { status, stderr, .. } = output(&mut directory.run("-o out.json.gz", "processes.js", "fork"));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let recorded = threads(&directory, "out.json.gz");
    let [main, child] = &recorded[..] else { panic!("{} threads: {stderr}", recorded.len()) };
    assert!(share(&main.trace, "inMain") > 0.02 && share(&main.trace, "inChild") == 0.0);
    assert!(share(&child.trace, "inChild") > 0.02 && share(&child.trace, "inMain") == 0.0);
    let command = |thread: &Thread| thread.process.as_ref().unwrap().command.clone();
    assert!(command(main).ends_with("processes.js fork") && command(child).ends_with("processes.js child"));
    assert!(span(child).0 > span(main).0.saturating_add(Micros(100_000)));
    // The table is about both.
    assert!(stderr.contains(" spin ") && stderr.contains("2 threads in 2 processes"), "{stderr}");

    let only = output(&mut directory.run("--no-children --top 0 -o one.json", "processes.js", "fork"));
    assert!(only.status.success(), "{}", text(&only.stderr));
    assert_eq!(threads(&directory, "one.json").len(), 1);

    let top = output(selfprof().current_dir(directory.path("")).args([
        "top",
        "--by",
        "process",
        "--json",
        "out.json.gz",
    ]));
    let json: serde_json::Value = serde_json::from_slice(&top.stdout).unwrap();
    let of_child = json["processes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["command"].as_str().unwrap().ends_with("child"))
        .unwrap();
    assert!(of_child["busy"]["time"].as_f64().unwrap() > 100.0, "{json}");
    for by in ["thread", "package"] {
        let top = output(selfprof().current_dir(directory.path("")).args(["top", "--by", by, "out.json.gz"]));
        let table = text(&top.stdout);
        let expected = if by == "thread" { "processes " } else { "(own code)" };
        assert!(top.status.success() && table.contains(expected), "{table}");
    }
}

#[test]
fn programs_that_are_not_node_are_followed() {
    let directory = TestDirectory::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scripts/processes.js");
    let path = directory.path("build.sh");
    fs::write(&path, format!("#!/bin/sh\nnode '{}' child || exit 1\nexit 3\n", script.display())).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let run =
        |arguments: &[&str]| output(selfprof().current_dir(directory.path("")).arg("run").args(arguments));
    let Output { status, stderr, .. } = run(&["--top", "0", "./build.sh"]);
    let stderr = text(&stderr);
    assert_eq!(status.code(), Some(3), "{stderr}");
    assert!(share(&directory.trace("build.selfprof.json"), "inChild") > 0.02);
    assert!(stderr.contains("not recorded, since they are not Node.js: "), "{stderr}");

    let Output { status, stderr, .. } = run(&["--no-children", "./build.sh"]);
    assert_eq!(status.code(), Some(2));
    let expected = "error: ./build.sh is a script of `sh`, so there is nothing to record\n\n\
        hint: without --no-children, the Node.js processes that it starts are recorded\n";
    assert_eq!(text(&stderr), expected);
}

#[test]
fn what_was_not_recorded_is_named() {
    let directory = TestDirectory::new();
    let Output { status, stderr, .. } = output(&mut directory.run("--top 0", "processes.js", "hidden"));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    assert!(stderr.contains("`): its environment lacks SELFPROF_RUN"), "{stderr}");
    assert!(stderr.contains("not recorded, since they are not Node.js: "), "{stderr}");
    assert!(stderr.contains("sleep"), "{stderr}");
    assert_eq!(threads(&directory, "processes.selfprof.json").len(), 1);
}

#[test]
fn a_process_that_outlives_the_program_goes_on() {
    let directory = TestDirectory::new();
    let file = directory.path("went-on");
    let arguments = format!("detached {}", file.display());
    let Output { status, stderr, .. } = output(&mut directory.run("--top 0", "processes.js", &arguments));
    let stderr = text(&stderr);
    assert!(status.success() && stderr.contains("is still running; its recording has ended"), "{stderr}");
    let threads = threads(&directory, "processes.selfprof.json");
    assert!(share(&threads[1].trace, "inChild") > 0.02);
    assert!(!stderr.contains("interrupted"), "{stderr}");
    wait_for(&file);
}

#[test]
fn a_killed_recorder_leaves_the_recording() {
    let directory = TestDirectory::new();
    let (file, folder) = (directory.path("went-on"), directory.path("tmp"));
    fs::create_dir(&folder).unwrap();
    let arguments = format!("daemon {}", file.display());
    let mut command = directory.run("--top 0", "processes.js", &arguments);
    let mut run = command.env("TMPDIR", &folder).stderr(Stdio::null()).spawn().unwrap();
    // Until it has recorded for a while.
    let journals = || {
        let folders = fs::read_dir(&folder).unwrap().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        files.filter(|file| file.file_name().to_string_lossy().ends_with(".journal")).count()
    };
    while journals() == 0 {
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&run), Signal::KILL).unwrap();
    run.wait().unwrap();
    // The program is not disturbed, and its journal has an end.
    wait_for(&file);
    let left = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let recovered =
        output(selfprof().current_dir(directory.path("")).arg("recover").arg(&left).args(["--top", "0"]));
    let stderr = text(&recovered.stderr);
    assert!(recovered.status.success() && !stderr.contains("interrupted"), "{stderr}");
    assert!(share(&directory.trace("recovered.selfprof.json"), "inChild") > 0.02);
}

/// Waits for a file that a program writes at its end.
#[track_caller]
fn wait_for(file: &Path) {
    let until = Instant::now() + Duration::from_secs(30);
    while fs::read(file).unwrap_or_default() != b"went on" {
        assert!(Instant::now() < until, "the program was disturbed");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn parts_of_a_run_are_recorded() {
    /// The shares of the functions `early` and `late`, and whether the trace was written before the program ended.
    #[track_caller]
    fn check(options: &str, has: [bool; 2]) -> String {
        let directory = TestDirectory::new();
        let Output { status, stdout, stderr } =
            output(&mut directory.run(&format!("--top 0 {options}"), "processes.js", "phases"));
        assert!(status.success(), "{}", text(&stderr));
        assert_eq!(text(&stdout), "between\nended\n");
        let trace = directory.trace("processes.selfprof.json");
        let found = ["early", "late"].map(|name| share(&trace, name) > 0.0);
        assert_eq!(found, has, "{options}: {}", text(&stderr));
        text(&stderr).to_owned()
    }
    check("", [true, true]);
    check("--delay 1.3", [false, true]);
    check("--duration 1.3", [true, false]);
    check("--last 0.7", [false, true]);
    let stderr = check("--toggle SIGUSR2", [false, false]);
    assert!(stderr.contains("the trace is empty: the program ended before recording began"), "{stderr}");
}

#[test]
fn a_signal_toggles_recording() {
    let directory = TestDirectory::new();
    let mut command = directory.run("--top 0 --toggle usr1", "processes.js", "phases");
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(run.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "between\n");
    kill_process(Pid::from_child(&run), Signal::USR1).unwrap();
    let Output { status, stderr, .. } = run.wait_with_output().unwrap();
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    assert!(stderr.starts_with("recording begins with SIGUSR1: kill -USR1 "), "{stderr}");
    let trace = directory.trace("processes.selfprof.json");
    assert!(share(&trace, "early") == 0.0 && share(&trace, "late") > 0.0, "{stderr}");
}
