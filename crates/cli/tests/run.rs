//! End-to-end tests of `selfprof run`, with the addon and the `node` on PATH.

#[path = "run/attach.rs"]
mod attach;
#[path = "run/commands.rs"]
mod commands;
#[path = "run/processes.rs"]
mod processes;
mod support;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::num::NonZeroU32;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use selfprof_formats::w3c;
use selfprof_trace::summary::Summary;
use selfprof_trace::{Frame, Marker, Trace};
use support::{npm, output, selfprof, text};
use tempfile::TempDir;

/// A temporary working directory for runs of the fixture scripts.
struct TestDirectory {
    folder: TempDir,
}

impl TestDirectory {
    fn new() -> Self {
        require_addon();
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `selfprof run` with options, a fixture script and its arguments, each separated by spaces.
    fn run(&self, options: &str, script: &str, arguments: &str) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scripts");
        let mut command = selfprof();
        command.current_dir(self.folder.path()).arg("run");
        command.args(options.split_whitespace()).arg(scripts.join(script)).args(arguments.split_whitespace());
        command
    }

    /// Reads a trace that a run has written.
    #[track_caller]
    fn trace(&self, name: &str) -> Trace {
        let (trace, problems) = w3c::read(File::open(self.path(name)).expect(name)).unwrap();
        assert_eq!(problems.list(), []);
        trace
    }

    /// The names of all files in the directory, sorted.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Fails if the addon is missing.
#[track_caller]
fn require_addon() {
    let version = Command::new("node").args(["-p", "process.versions.modules"]).output();
    let modules = text(&version.expect("`node` is on PATH").stdout);
    let platform = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-x64" };
    let addon =
        npm().join("../native-linux-x64").join(format!("selfprof-{platform}-{}.node", modules.trim()));
    assert!(
        addon.is_file(),
        "no addon was found at {}\n\nhint: `cargo xtask build` builds it",
        addon.display()
    );
}

/// The share of the busy samples that have a function of this name on their stacks.
///
/// Node.js's own startup is busy too, and slow on a loaded machine, so tests require less than they expect.
fn share(trace: &Trace, function: &str) -> f64 {
    let summary = Summary::of(trace);
    let rows = summary.functions.iter();
    let rows = rows.filter(|row| &trace.names()[trace.frames()[row.frame].name] == function);
    rows.map(|row| row.total_samples as f64).sum::<f64>() / summary.busy.samples as f64
}

#[test]
fn scripts_that_are_compiled_in_memory_have_their_original_places() {
    let directory = TestDirectory::new();
    let Output { status, stderr, .. } = output(&mut directory.run("--top 3 -o out.json", "in-memory.js", ""));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let is_right = |line: &str| line.contains("  work ") && line.trim_end().ends_with("virtual.ts:7:10");
    assert!(stderr.lines().any(is_right), "{stderr}");
    // The file has the place of the code that ran, and the map.
    let trace = directory.trace("out.json");
    let place = |frame: &Frame| (frame.line.map(NonZeroU32::get), frame.column.map(NonZeroU32::get));
    let work = trace.frames().iter().find(|(_, frame)| &trace.names()[frame.name] == "work").unwrap();
    assert_eq!(place(&work.1), (Some(1), Some(14)));
    let top = output(selfprof().current_dir(directory.folder.path()).args(["top", "out.json"]));
    assert!(text(&top.stdout).lines().any(is_right), "{}", text(&top.stdout));
}

#[test]
fn functions_that_are_compiled_in_memory_have_inferred_names() {
    let directory = TestDirectory::new();
    let source = "type Fn = (o: { end: number }) => void;\nexport const hot: Fn = ({ end }): void => {};\n";
    fs::write(directory.path("hot.ts"), source).unwrap();
    let Output { status, stderr, .. } =
        output(&mut directory.run("--top 3 -o out.json", "in-memory-arrow.js", ""));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let is_right = |line: &str| line.contains("  hot*  ") && line.trim_end().ends_with("hot.ts:2:24");
    assert!(stderr.lines().any(is_right), "{stderr}");
}

#[test]
fn a_full_disk_is_named() {
    let directory = TestDirectory::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scripts/busy.js");
    // Node.js ignores the signal of this limit, so that the journal cannot grow as on a full disk.
    let temporary = directory.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let run = |blocks: u32| {
        let command = format!("ulimit -f {blocks}; exec node '{}'", script.display());
        let mut run = selfprof();
        run.current_dir(directory.path("")).args(["run", "--top", "0", "-o", "t.json", "sh", "-c", &command]);
        let Output { status, stderr, .. } = output(run.env("TMPDIR", &temporary));
        (status, text(&stderr))
    };
    let (status, stderr) = run(4);
    assert!(status.success(), "{stderr}");
    let expected = format!(" s, and later samples are missing: cannot write to {}: ", temporary.display());
    assert!(stderr.contains("the recording of the main thread ends at ") && stderr.contains(&expected));
    assert!(stderr.contains("\nhint: TMPDIR sets another directory for temporary files\n"), "{stderr}");
    assert!(!stderr.contains("interrupted"), "{stderr}");

    let (status, stderr) = run(0);
    assert_eq!(status.code(), Some(1), "{stderr}");
    let expected = format!("error: nothing was recorded: cannot write to {}", temporary.display());
    assert!(stderr.contains(&expected) && stderr.contains("TMPDIR"), "{stderr}");
}

#[test]
fn evaluated_functions_are_not_native() {
    let directory = TestDirectory::new();
    let Output { status, stderr, .. } = output(&mut directory.run("--top 9 -o out.json", "evaluated.js", ""));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let shown = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("  work "));
        lines.map(|line| line.split("  ").last().unwrap_or_default().trim().to_owned()).collect()
    };
    let rows = shown(&stderr);
    assert_eq!(rows.len(), 2, "{stderr}");
    assert_ne!(rows[0], rows[1], "{stderr}");
    assert!(rows.iter().all(|row| row.starts_with("(eval ") && row.ends_with("):1:14")), "{stderr}");
    let top = output(selfprof().current_dir(directory.folder.path()).args(["top", "out.json"]));
    assert_eq!(shown(&text(&top.stdout)), rows);
    // In the standard, such a function has only a name.
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(directory.path("out.json")).unwrap()).unwrap();
    for element in json["evaluated"].as_array().unwrap() {
        let frame = &json["frames"][element["frameId"].as_u64().unwrap() as usize];
        assert_eq!(frame.as_object().unwrap().keys().collect::<Vec<_>>(), ["name"]);
    }
    assert!(!json["resources"].to_string().contains("(eval"));
}

#[test]
fn a_script_is_recorded() {
    let directory = TestDirectory::new();
    let Output { status, stdout, stderr } = output(&mut directory.run("--top 3", "busy.js", "a --top 9"));
    let (stdout, stderr) = (text(&stdout), text(&stderr));
    assert!(status.success(), "{stderr}");
    // The script sees its own arguments only, and no trace of selfprof.
    assert_eq!(stdout, "{\"argv\":[\"a\",\"--top\",\"9\"],\"execArgv\":[]}\n");
    assert_eq!(directory.files(), ["busy.selfprof.json"]);
    let trace = directory.trace("busy.selfprof.json");
    assert!(share(&trace, "fib") > 0.3, "{stderr}");
    assert!(Summary::of(&trace).marker(Marker::Script).samples > 20, "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(lines[0].starts_with("   self ms   total ms      %  function"), "{stderr}");
    // On a busy machine, it mostly waits for a processor.
    let first = if lines[1].contains("(waiting)") { lines[2] } else { lines[1] };
    assert!(first.contains("fib") && first.ends_with("busy.js:5:13"), "{stderr}");
    let line = |start| lines.iter().find(|line| line.starts_with(start)).copied().unwrap_or_default();
    let [times, last] = ["time: ", "trace: "].map(line);
    assert!(!line("samples: script ").is_empty(), "{stderr}");
    let summary = Summary::of(&trace);
    let busy = summary.busy.time.as_millis_f64();
    assert!(
        times.starts_with("time: covered ") && times.contains("waiting and running = 100 %, "),
        "{stderr}"
    );
    let time = |name: &str| -> f64 {
        times.split_once(name).unwrap().1.split_once(" ms").unwrap().0.trim().parse().unwrap()
    };
    assert!((time("waiting ") + time("running ") - busy).abs() < 0.2, "{stderr}");
    let (samples, median) = (trace.samples().len(), summary.interval.unwrap());
    assert_eq!(
        last,
        format!(
            "trace: busy.selfprof.json ({samples} samples, requested interval 1 ms, median interval {median} ms)"
        )
    );
    // `top` uses the same words.
    let top = text(&output(selfprof().arg("top").arg(directory.path("busy.selfprof.json"))).stdout);
    let end = format!("trace: {samples} samples, median interval {median} ms\n");
    assert!(top.contains(times) && top.ends_with(&end), "{top}");
}

#[test]
fn options_reach_the_recording() {
    let directory = TestDirectory::new();
    let options = "-i 5 -b 4 -o out.json.gz --top 0 --mode lazy --node-frames fold";
    let Output { status, stderr, .. } = output(&mut directory.run(options, "busy.js", ""));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let trace = directory.trace("out.json.gz");
    assert_eq!(trace.samples().len(), 4, "{stderr}");
    // The option is for the table. Who reads the trace chooses again.
    assert!(trace.resources().iter().any(|(_, url)| url.starts_with("node:")), "{stderr}");
    let median = Summary::of(&trace).interval.unwrap();
    assert_eq!(
        stderr,
        format!(
            "warning: the sample buffer of the main thread was full; later samples are missing\n\
             trace: out.json.gz (4 samples, requested interval 5 ms, median interval {median} ms)\n"
        )
    );
    let mut start = [0; 2];
    File::open(directory.path("out.json.gz")).unwrap().read_exact(&mut start).unwrap();
    assert_eq!(start, [0x1f, 0x8b]);
    let Output { stderr, .. } = output(&mut directory.run(options, "busy.js", ""));
    assert!(text(&stderr).ends_with(" ms), replacing an earlier file\n"), "{}", text(&stderr));
}

/// The names of a trace's entries in time order, and the number of dropped entries.
fn entries(trace: &Trace) -> Option<(Vec<String>, u64)> {
    let entries = trace.entries()?;
    let names = entries.list().iter().map(|entry| entries.names()[entry.name].to_owned()).collect();
    Some((names, entries.dropped()))
}

#[test]
fn marks_are_recorded_when_asked_for() {
    let directory = TestDirectory::new();
    let Output { status, stderr, .. } = output(&mut directory.run("--marks --top 1", "marks.js", ""));
    let stderr = text(&stderr);
    assert!(status.success(), "{stderr}");
    let trace = directory.trace("marks.selfprof.json");
    let (mut names, dropped) = entries(&trace).unwrap();
    // The position of the explicit start time among the others depends on how fast Node.js starts.
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

    let Output { stderr, .. } = output(&mut directory.run("--top 1", "marks.js", ""));
    assert_eq!(entries(&directory.trace("marks.selfprof.json")), None);
    assert!(!text(&stderr).contains("entries:"), "{}", text(&stderr));
}

#[test]
fn the_buffer_size_limits_marks_too() {
    let directory = TestDirectory::new();
    let Output { stderr, .. } =
        output(&mut directory.run("--marks -b 2 --top 0 -o out.json.gz", "marks.js", ""));
    let stderr = text(&stderr);
    assert_eq!(entries(&directory.trace("out.json.gz")).unwrap().1, 5);
    assert!(
        stderr.contains(
            "warning: the entry buffer of the main thread was full; 5 marks and measures are missing\n"
        ),
        "{stderr}"
    );
}

#[test]
fn marks_of_workers_are_in_their_traces() {
    let directory = TestDirectory::new();
    output(&mut directory.run("--marks --top 0 -o out.json", "marks.js", "worker"));
    let threads = processes::threads(&directory, "out.json");
    assert_eq!(threads.len(), 2);
    for thread in threads {
        assert_eq!(entries(&thread.trace).unwrap().0.len(), 7, "{}", thread.name);
    }
}

#[test]
fn the_exit_status_is_that_of_the_script() {
    /// `expected` is the exit code and the signal.
    #[track_caller]
    fn check(arguments: &str, expected: (Option<i32>, Option<i32>)) {
        let directory = TestDirectory::new();
        let Output { status, stderr, .. } = output(&mut directory.run("--top 0", "busy.js", arguments));
        assert_eq!((status.code(), status.signal()), expected, "{}", text(&stderr));
        let share = share(&directory.trace("busy.selfprof.json"), "fib");
        assert!(share > 0.3, "{arguments}: {share}, {}", text(&stderr));
    }
    check("exit 0", (Some(0), None));
    check("exit 7", (Some(7), None));
    check("throw", (Some(1), None));
    check("raise SIGTERM", (None, Some(15)));
    check("raise SIGKILL", (None, Some(9)));
}

#[test]
fn a_signal_is_forwarded_once() {
    let directory = TestDirectory::new();
    let (child, mut stdout) = serving(directory.run("--top 0", "busy.js", "serve SIGTERM"));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((rest.as_str(), output.status.code()), ("SIGTERM came 1 times\n", Some(5)));
    assert!(directory.path("busy.selfprof.json").is_file(), "{}", text(&output.stderr));
}

#[test]
fn a_signal_ends_a_script_that_does_not_handle_it() {
    let directory = TestDirectory::new();
    let (child, _stdout) = serving(directory.run("--top 0", "busy.js", "serve SIGUSR2"));
    // Not SIGINT: shells start background jobs with SIGINT ignored, and `selfprof run` leaves ignored signals ignored.
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15), "{}", text(&output.stderr));
    assert!(share(&directory.trace("busy.selfprof.json"), "fib") > 0.3);
}

/// Starts a run and waits until the script is ready.
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
fn a_process_without_a_recording_is_an_error() {
    let directory = TestDirectory::new();
    // Node.js rejects this option, so it ends before the preload.
    let mut command = directory.run("", "busy.js", "");
    let Output { status, stderr, .. } = output(command.env("NODE_OPTIONS", "--no-such-option"));
    assert_eq!(status.code(), Some(9));
    let stderr = text(&stderr);
    assert!(
        stderr.ends_with(
            "error: nothing was recorded: no Node.js process came to the point where recording starts\n"
        ),
        "{stderr}"
    );
    assert_eq!(directory.files(), [] as [&str; 0]);
}

#[test]
fn a_trace_that_cannot_be_written_fails_the_run() {
    let directory = TestDirectory::new();
    let Output { status, stderr, .. } = output(&mut directory.run("--top 0 -o /dev/full", "busy.js", ""));
    assert_eq!(status.code(), Some(1));
    let message = "error: cannot write the trace to /dev/full: No space left on device";
    let stderr = text(&stderr);
    assert!(stderr.starts_with(message), "{stderr}");
    // The recording can be turned into a trace later.
    let folder =
        stderr.split("the recording is in ").nth(1).and_then(|rest| rest.split(';').next()).expect(&stderr);
    let recovered =
        output(selfprof().current_dir(directory.folder.path()).args(["recover", folder, "--top", "1"]));
    assert!(recovered.status.success(), "{}", text(&recovered.stderr));
    assert!(share(&directory.trace("recovered.selfprof.json"), "fib") > 0.3);
    let is_journal = |name: &str| name.ends_with(".main.journal");
    assert!(
        fs::read_dir(folder).unwrap().any(|entry| is_journal(entry.unwrap().file_name().to_str().unwrap()))
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_table_shows_original_names_and_locations() {
    let directory = TestDirectory::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/source-maps");
    for name in ["app.min.js", "app.min.js.map"] {
        fs::copy(fixtures.join(name), directory.path(name)).unwrap();
    }
    let mut command = selfprof();
    let run =
        output(command.current_dir(directory.folder.path()).args(["run", "-o", "t.json", "app.min.js"]));
    let stderr = text(&run.stderr);
    assert!(stderr.contains(" get value ") && stderr.contains("/src/app.ts:19:7"), "{stderr}");
    // The file keeps the locations of the code that ran.
    assert!(directory.trace("t.json").resources().iter().all(|(_, url)| !url.ends_with(".ts")));
}

/// The page host refuses the `node` on PATH if jsdom does not support it, before it loads anything that needs a newer
/// one.
#[test]
fn pages_need_a_node_that_jsdom_supports() {
    require_addon();
    let version = text(&Command::new("node").arg("--version").output().unwrap().stdout);
    let major: u32 = version.trim_start_matches('v').split('.').next().unwrap().parse().unwrap();
    let run = output(selfprof().args(["page", "--jsdom", "/nowhere", "about:blank"]));
    let expected = if major < 22 { "error: jsdom needs Node " } else { "error: jsdom was not found at " };
    let stderr = text(&run.stderr);
    assert!(stderr.starts_with(expected), "{stderr}");
    assert!(stderr.contains("\nhint: ") && stderr.contains("`--node PATH`"), "{stderr}");
    assert_eq!(run.status.code(), Some(1));
}
