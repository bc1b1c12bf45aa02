//! `selfprof run`, end to end: with the addon, in the `node` on PATH.

mod support;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use selfprof_formats::w3c;
use selfprof_trace::summary::Summary;
use selfprof_trace::{Marker, Trace};
use support::{npm, output, selfprof, text};
use tempfile::TempDir;

/// A directory to work in, with scripts from the fixtures.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        require_addon();
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `selfprof run` with options, one of the fixtures' scripts and its arguments, separated by spaces.
    fn run(&self, options: &str, script: &str, arguments: &str) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scripts");
        let mut command = selfprof();
        command.current_dir(self.directory.path()).arg("run");
        command.args(options.split_whitespace()).arg(scripts.join(script)).args(arguments.split_whitespace());
        command
    }

    /// A trace that was written here.
    #[track_caller]
    fn trace(&self, name: &str) -> Trace {
        let (trace, problems) = w3c::read(File::open(self.path(name)).expect(name)).unwrap();
        assert_eq!(problems.list(), []);
        trace
    }

    /// The names of all files, sorted.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// These tests are about the addon, so without it they fail.
#[track_caller]
fn require_addon() {
    let version = Command::new("node").args(["-p", "process.versions.modules"]).output();
    let modules = text(&version.expect("`node` is on PATH").stdout);
    let platform = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-x64" };
    let addon = npm().join("native").join(format!("selfprof-{platform}-{}.node", modules.trim()));
    assert!(
        addon.is_file(),
        "the addon is not built: {}\n\nhint: `cargo xtask build` builds it",
        addon.display()
    );
}

/// The samples in functions of this name and in what they call, in parts of all busy samples.
///
/// Node's own start is busy too, and takes long on a loaded machine, so tests ask for less than they expect.
fn part(trace: &Trace, function: &str) -> f64 {
    let summary = Summary::of(trace);
    let rows = summary.functions.iter();
    let rows = rows.filter(|row| &trace.names()[trace.frames()[row.frame].name] == function);
    rows.map(|row| row.total_samples as f64).sum::<f64>() / summary.busy.samples as f64
}

#[test]
fn a_script_is_recorded() {
    let place = Place::new();
    let Output { status, stdout, stderr } = output(&mut place.run("--top 3", "busy.js", "a --top 9"));
    let (stdout, stderr) = (text(&stdout), text(&stderr));
    assert!(status.success(), "{stderr}");
    // The script sees its own arguments, and nothing of us.
    assert_eq!(stdout, "{\"argv\":[\"a\",\"--top\",\"9\"],\"execArgv\":[]}\n");
    assert_eq!(place.files(), ["busy.selfprof.json"]);
    let trace = place.trace("busy.selfprof.json");
    assert!(part(&trace, "fib") > 0.3, "{stderr}");
    assert!(Summary::of(&trace).marker(Marker::Script).samples > 20, "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(lines[0].starts_with("   self ms   total ms      %  function"), "{stderr}");
    assert!(lines[1].contains("fib") && lines[1].ends_with("busy.js:5:13"), "{stderr}");
    let [.., markers, last] = lines[..] else { panic!("{stderr}") };
    assert!(markers.starts_with("samples: script "), "{stderr}");
    let samples = trace.samples().len();
    assert_eq!(last, format!("trace: busy.selfprof.json ({samples} samples, interval 1 ms)"));
}

#[test]
fn options_reach_the_recording() {
    let place = Place::new();
    let options = "-i 5 -b 4 -o out.json.gz --top 0 --mode lazy --node-frames full";
    let Output { status, stderr, .. } = output(&mut place.run(options, "busy.js", ""));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let trace = place.trace("out.json.gz");
    assert_eq!(trace.samples().len(), 4, "{stderr}");
    assert!(trace.resources().iter().any(|(_, url)| url.starts_with("node:")), "{stderr}");
    assert_eq!(
        stderr,
        "warning: the sample buffer of the main thread was full, so the trace lacks what came later\n\
         trace: out.json.gz (4 samples, interval 5 ms)\n"
    );
    let mut start = [0; 2];
    File::open(place.path("out.json.gz")).unwrap().read_exact(&mut start).unwrap();
    assert_eq!(start, [0x1f, 0x8b]);
}

/// The entries of a trace as `name`, in time order, and how many were dropped.
fn entries(trace: &Trace) -> Option<(Vec<String>, u64)> {
    let entries = trace.entries()?;
    let names = entries.list().iter().map(|entry| entries.names()[entry.name].to_owned()).collect();
    Some((names, entries.dropped()))
}

#[test]
fn marks_are_recorded_when_asked_for() {
    let place = Place::new();
    let Output { status, stderr, .. } = output(&mut place.run("--marks --top 1", "marks.js", ""));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let trace = place.trace("marks.selfprof.json");
    let (mut names, dropped) = entries(&trace).unwrap();
    // Where the explicit time falls among the others depends on how fast Node starts.
    names.retain(|name| name != "mark_fully_loaded");
    let expected = ["parse", "parse 😀", "render", "render 😀", "render", "render 😀"];
    assert_eq!((&names[..], dropped), (&expected.map(str::to_owned)[..], 0));
    let lines: Vec<&str> = stderr.lines().collect();
    let start = lines.iter().position(|line| line.contains("longest ms")).expect(&stderr);
    let [heading, first, more, marks, mark, counts, samples, ..] = lines[start..] else { panic!("{stderr}") };
    assert_eq!(heading, "  total ms longest ms  times  measure");
    assert!(first.ends_with("     2  render 😀"), "{stderr}");
    assert_eq!(more, "       ... and 1 more");
    assert_eq!([marks, mark], ["     at ms  mark", "     123.5  mark_fully_loaded: fully loaded"]);
    assert_eq!(counts, "entries: marks 4, measures 3");
    assert!(samples.starts_with("samples: "), "{stderr}");

    let Output { stderr, .. } = output(&mut place.run("--top 1", "marks.js", ""));
    assert_eq!(entries(&place.trace("marks.selfprof.json")), None);
    assert!(!text(&stderr).contains("entries:"), "{}", text(&stderr));
}

#[test]
fn marks_are_bounded_as_samples_are() {
    let place = Place::new();
    let Output { stderr, .. } = output(&mut place.run("--marks -b 2 --top 0 -o out.json.gz", "marks.js", ""));
    let stderr = text(&stderr);
    assert_eq!(entries(&place.trace("out.json.gz")).unwrap().1, 5);
    assert!(
        stderr.contains(
            "warning: the trace of the main thread lacks 5 marks and measures, for which there was no room\n"
        ),
        "{stderr}"
    );
}

#[test]
fn workers_have_marks_of_their_own() {
    let place = Place::new();
    output(&mut place.run("--marks --top 0 -o out.json", "marks.js", "worker"));
    for name in ["out.json", "out.worker-1.json"] {
        assert_eq!(entries(&place.trace(name)).unwrap().0.len(), 7, "{name}");
    }
}

#[test]
fn the_end_is_the_scripts() {
    /// `expected`: the exit code, or the signal.
    #[track_caller]
    fn check(arguments: &str, expected: (Option<i32>, Option<i32>)) {
        let place = Place::new();
        let Output { status, stderr, .. } = output(&mut place.run("--top 0", "busy.js", arguments));
        assert_eq!((status.code(), status.signal()), expected, "{}", text(&stderr));
        let part = part(&place.trace("busy.selfprof.json"), "fib");
        assert!(part > 0.3, "{arguments}: {part}, {}", text(&stderr));
    }
    check("exit 0", (Some(0), None));
    check("exit 7", (Some(7), None));
    check("throw", (Some(1), None));
    check("raise SIGTERM", (None, Some(15)));
    check("raise SIGKILL", (None, Some(9)));
}

#[test]
fn signals_are_passed_on_once() {
    let place = Place::new();
    let (child, mut stdout) = serving(place.run("--top 0", "busy.js", "serve SIGTERM"));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((rest.as_str(), output.status.code()), ("SIGTERM came 1 times\n", Some(5)));
    assert!(place.path("busy.selfprof.json").is_file(), "{}", text(&output.stderr));
}

#[test]
fn a_script_that_does_not_mind_signals_dies_of_them() {
    let place = Place::new();
    let (child, _stdout) = serving(place.run("--top 0", "busy.js", "serve SIGUSR2"));
    // Not SIGINT, which shells have their background jobs ignore, and a run leaves ignored what it finds ignored.
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15), "{}", text(&output.stderr));
    assert!(part(&place.trace("busy.selfprof.json"), "fib") > 0.3);
}

/// A run whose script says that it is ready.
fn serving(mut command: Command) -> (Child, impl Read) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line != "ready\n" {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the script ended early");
    }
    (child, stdout)
}

#[test]
fn workers_have_traces_of_their_own() {
    let place = Place::new();
    let Output { status, stderr, .. } = output(&mut place.run("--top 0 -o out.json", "workers.js", ""));
    assert!(status.success(), "{}", text(&stderr));
    assert_eq!(place.files(), ["out.json", "out.worker-1.json", "out.worker-2.json"], "{}", text(&stderr));
    for name in place.files() {
        let part = part(&place.trace(&name), "spin");
        assert!(part > 0.02, "{name}: {part}, {}", text(&stderr));
    }
}

#[test]
fn a_process_that_never_records_is_told() {
    let place = Place::new();
    // An option that Node refuses, so that it ends before the preload.
    let mut command = place.run("", "busy.js", "");
    let Output { status, stderr, .. } = output(command.env("NODE_OPTIONS", "--no-such-option"));
    assert_eq!(status.code(), Some(9));
    let stderr = text(&stderr);
    assert!(
        stderr.ends_with("error: there is no recording: the script's process ended before it began\n"),
        "{stderr}"
    );
    assert_eq!(place.files(), [] as [&str; 0]);
}

#[test]
fn a_trace_that_cannot_be_written_fails_the_run() {
    let place = Place::new();
    let Output { status, stderr, .. } = output(&mut place.run("--top 0 -o /dev/full", "busy.js", ""));
    assert_eq!(status.code(), Some(1));
    let message = "error: cannot write the trace of the main thread to /dev/full: No space left on device";
    assert!(text(&stderr).starts_with(message), "{}", text(&stderr));
}

#[test]
fn the_table_shows_functions_as_they_were_written() {
    let place = Place::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/source-maps");
    for name in ["app.min.js", "app.min.js.map"] {
        fs::copy(fixtures.join(name), place.path(name)).unwrap();
    }
    let mut command = selfprof();
    let run = output(command.current_dir(place.directory.path()).args(["run", "-o", "t.json", "app.min.js"]));
    let said = text(&run.stderr);
    assert!(said.contains(" get value ") && said.contains("/src/app.ts:19:7"), "{said}");
    // What is written has the places of the code that ran.
    assert!(place.trace("t.json").resources().iter().all(|(_, url)| !url.ends_with(".ts")));
}
