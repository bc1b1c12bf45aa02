//! Snapshot tests: the whole output of `selfprof`, compared with `tests/snapshots`. `BLESS=1` updates the snapshots.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{output, selfprof, text};

/// Compares the exit code, stdout and stderr with the snapshot of this name.
#[track_caller]
fn check(name: &str, command: &mut Command) {
    let output = output(command);
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let actual = format!(
        "$ selfprof {}\nexit code {:?}\n--- stdout\n{}--- stderr\n{}",
        arguments.join(" "),
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

/// `selfprof` with these arguments, separated by spaces.
fn with(arguments: &str) -> Command {
    let mut command = selfprof();
    command.args(arguments.split(' '));
    command
}

#[test]
fn help() {
    check("help", &mut with("--help"));
    check("help-run", &mut with("run --help"));
    check("help-attach", &mut with("attach --help"));
    check("attach-nothing", &mut with("attach"));
    check("attach-no-number", &mut with("attach server.js"));
    check("attach-zero", &mut with("attach 0"));
    check("attach-no-process", &mut with("attach 2147483647"));
    check("help-top", &mut with("top --help"));
    check("help-recover", &mut with("recover --help"));
    check("recover-nothing", &mut with("recover tests/fixtures/scripts"));
    check("recover-missing", &mut with("recover no/such/folder"));
    check("help-diff", &mut with("diff --help"));
    check("help-report", &mut with("report --help"));
    check("help-page", &mut with("page --help"));
    check("help-webdriver", &mut with("webdriver --help"));
    check("help-convert", &mut with("convert --help"));
    check("help-instrument", &mut with("instrument --help"));
    check("instrument-nothing", &mut with("instrument"));
    check("instrument-no-folder", &mut with("instrument tests/fixtures/scripts/busy.js"));
    check("help-agent-exporter", &mut with("agent-exporter --help"));
    check("agent-exporter-no-folder", &mut with("agent-exporter"));
    check("agent-exporter-missing", &mut with("agent-exporter --folder no/such/folder"));
    check("collector-missing", with("collector serve").env("PATH", "no/such/folder"));
    check("unknown-command", &mut with("rum"));
    check("unknown-program", &mut with("eslint ."));
}

#[test]
fn top() {
    let markers = "../formats/fixtures/w3c/chromium-156-markers-isolated.json";
    check("top", &mut with(&format!("top {markers}")));
    check("top-3", &mut with(&format!("top --top 3 {markers}")));
    check("top-json", &mut with(&format!("top --json --top 1 {markers}")));
    check("top-broken", &mut with("top tests/fixtures/broken.json"));
    let node = "tests/fixtures/node-frames.json";
    check("top-of-node-frames", &mut with(&format!("top {node}")));
    check("top-of-node-frames-full", &mut with(&format!("top --node-frames full {node}")));
    check("diff-of-node-frames-full", &mut with(&format!("diff --all --node-frames full {node} {node}")));
    check("convert-node-frames", &mut with(&format!("convert {node} --to collapsed -o -")));
    check(
        "convert-node-frames-full",
        &mut with(&format!("convert --node-frames full {node} --to collapsed -o -")),
    );
    check("top-without-samples", &mut with("top tests/fixtures/no-samples.json"));
    check("top-of-one-sample", &mut with("top tests/fixtures/one-sample.json"));
    let marks = "tests/fixtures/marks.json";
    let calls = "../formats/fixtures/w3c/polyfill-calls.json";
    check("top-calls", &mut with(&format!("top {calls}")));
    check("top-calls-json", &mut with(&format!("top --json --top 2 {calls}")));
    check("top-calls-by-marker", &mut with(&format!("top --by marker {calls}")));
    check("top-calls-by-package", &mut with(&format!("top --by package {calls}")));
    let unknown = "tests/fixtures/calls-without-table.json";
    check("top-calls-unknown", &mut with(&format!("top {unknown}")));
    check("top-calls-unknown-by-resource", &mut with(&format!("top --by resource {unknown}")));
    check("top-calls-unknown-json", &mut with(&format!("top --json --by resource {unknown}")));
    check("top-calls-diff", &mut with(&format!("diff {calls} {calls}")));
    check("top-marks", &mut with(&format!("top {marks}")));
    check("top-marks-1", &mut with(&format!("top --top 1 {marks}")));
    check("top-marks-json", &mut with(&format!("top --json --top 2 {marks}")));
}

#[test]
fn top_by_other_things() {
    let markers = "../formats/fixtures/w3c/chromium-156-markers-isolated.json";
    check("top-by-resource", &mut with(&format!("top --by resource {markers}")));
    check("top-by-resource-json", &mut with(&format!("top --by resource --json {markers}")));
    check(
        "top-by-resource-1",
        &mut with("top --by resource --top 1 ../formats/fixtures/cpuprofile/node-20-small.cpuprofile"),
    );
    check("top-by-marker", &mut with(&format!("top --by marker {markers}")));
    check("top-by-marker-json", &mut with(&format!("top --by marker --json {markers}")));
    check("top-by-bad", &mut with(&format!("top --by colour {markers}")));
}

#[test]
fn waiting() {
    let waiting = "tests/fixtures/waiting.json";
    check("top-waiting", &mut with(&format!("top {waiting}")));
    check("top-by-cpu", &mut with(&format!("top --by cpu {waiting}")));
    check("top-by-wall", &mut with(&format!("top --by wall {waiting}")));
    check("top-by-package-and-cpu", &mut with(&format!("top --by package,cpu {waiting}")));
    check("top-by-thread-waiting", &mut with(&format!("top --by thread {waiting}")));
    check("top-by-thread-and-cpu", &mut with(&format!("top --by cpu --by thread {waiting}")));
    check("top-by-marker-waiting", &mut with(&format!("top --by marker {waiting}")));
    check("top-by-resource-waiting", &mut with(&format!("top --by resource {waiting}")));
    check("top-waiting-json", &mut with(&format!("top --json --top 2 {waiting}")));
    check("top-by-two-groups", &mut with(&format!("top --by package,function {waiting}")));
    check("top-by-two-times", &mut with(&format!("top --by cpu --by wall {waiting}")));
    check("top-by-unknown-cpu", &mut with("top --by cpu --top 1 tests/fixtures/marks.json"));
    check("diff-waiting", &mut with(&format!("diff --all tests/fixtures/marks.json {waiting}")));
    check("diff-cpu", &mut with(&format!("diff --all --by cpu tests/fixtures/marks.json {waiting}")));
    check("convert-waiting", &mut with(&format!("convert {waiting} -o - --to collapsed")));
    check("convert-waiting-firefox", &mut with(&format!("convert {waiting} -o - --to firefox")));
    check("convert-waiting-w3c", &mut with(&format!("convert {waiting} -o - --to w3c")));
}

#[test]
fn labels() {
    let labels = "tests/fixtures/labels.json";
    check("top-by-label", &mut with(&format!("top --by label:http.route {labels}")));
    check("top-by-label-and-cpu", &mut with(&format!("top --by label:tenant,cpu --top 2 {labels}")));
    check("top-by-label-json", &mut with(&format!("top --json --by label:http.route {labels}")));
    check("top-by-unknown-label", &mut with(&format!("top --by label:colour {labels}")));
    check("top-by-two-labels", &mut with(&format!("top --by label:a,label:b {labels}")));
    check("top-of-label", &mut with(&format!("top --label http.route=/ --label tenant=a {labels}")));
    check("top-of-labels", &mut with(&format!("top --label http.route=/ --label http.route=/cart {labels}")));
    check("top-of-unknown-label", &mut with(&format!("top --label colour=red {labels}")));
    check("top-of-bad-label", &mut with(&format!("top --label red {labels}")));
    check("convert-of-label", &mut with(&format!("convert {labels} --label tenant=a -o - --to collapsed")));
    check("convert-labels-w3c", &mut with(&format!("convert {labels} -o - --to w3c")));
    check("diff-of-label", &mut with(&format!("diff --all --label http.route=/cart {labels} {labels}")));
    check("diff-of-unknown-label", &mut with(&format!("diff --label colour=red {labels} {labels}")));
    let selection = "http://127.0.0.1:1/?app=shop&release=1.4";
    let wanted = "--label http.route=/ --label http.route=/cart --label the-user=o'neill";
    check("diff-label-of-collector", &mut with(&format!("diff {wanted} {labels} {selection}")));
    check("top-label-of-collector", &mut with(&format!("top --label tenant=a {selection}")));
}

#[test]
fn labels_are_read_from_other_formats() {
    let labels = "tests/fixtures/labels.json";
    let values = |file: &str| {
        let output = output(&mut with(&format!("top --json --by label:http.route {file}")));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = json["labels"].as_array().unwrap().iter();
        let mut rows: Vec<_> =
            rows.map(|row| format!("{} {:.0}", row["value"], row["time"].as_f64().unwrap())).collect();
        rows.sort();
        rows
    };
    let expected = values(labels);
    assert_eq!(expected, ["\"/\" 12", "\"/cart\" 6", "null 6"]);
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in [("pprof", "labels.pb.gz"), ("otlp", "labels.otlp")] {
        let file = folder.path().join(name);
        let file = file.to_str().unwrap();
        let output = output(&mut with(&format!("convert {labels} --to {format} -o {file}")));
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(values(file), expected, "{format}");
    }
}

#[test]
fn diff() {
    let markers = "../formats/fixtures/w3c/chromium-156-markers-isolated.json";
    let small = "../formats/fixtures/w3c/chromium-156-small.json";
    check("diff", &mut with(&format!("diff {small} {markers}")));
    check("diff-1", &mut with(&format!("diff --top 1 {small} {markers}")));
    check("diff-all", &mut with(&format!("diff --all {small} {markers}")));
    check("diff-json", &mut with(&format!("diff --json tests/fixtures/marks.json {small}")));
    check("diff-same", &mut with(&format!("diff {small} {small}")));
    check("diff-idle", &mut with(&format!("diff {small} tests/fixtures/idle.json")));
    check("diff-stdin-twice", &mut with("diff - -"));
    check("diff-nothing", &mut with("diff"));
    check("diff-missing", &mut with(&format!("diff {small} nowhere.json")));
}

#[test]
fn files_of_other_tools() {
    let of = |command: &str, name: &str| with(&format!("{command} tests/fixtures/other-tools/{name}"));
    check("top-of-gap", &mut of("top", "gap.json"));
    check("top-of-gap-json", &mut of("top --json", "gap.json"));
    check("top-of-events", &mut of("top", "events.json"));
    check("top-of-old-v8", &mut of("top", "old.cpuprofile"));
    check("top-of-utf-16", &mut of("top", "utf-16.cpuprofile"));
    check("top-of-sentry", &mut of("top", "sentry-chunk.json"));
    check("top-of-heap-profile", &mut of("top", "memory.heapprofile"));
    check("top-of-source-map", &mut with("top tests/fixtures/source-maps/app.min.js.map"));
    check("diff-of-gap", &mut of("diff tests/fixtures/marks.json", "gap.json"));
    check("diff-of-tools", &mut of("diff --all tests/fixtures/waiting.json", "node.cpuprofile"));
    check("diff-of-tools-json", &mut of("diff --json tests/fixtures/waiting.json", "node.cpuprofile"));
}

#[test]
fn top_that_fails() {
    check("top-missing", &mut with("top nowhere.json"));
    check("top-not-a-trace", &mut with("top Cargo.toml"));
    check("top-empty", with("top -").stdin(Stdio::null()));
    check("top-cut-off", &mut with("top tests/fixtures/cut-off.json"));
    check("top-cut-off-gzip", &mut with("top tests/fixtures/cut-off.json.gz"));
}

#[test]
fn convert() {
    let markers = "../formats/fixtures/w3c/chromium-156-markers-isolated.json";
    let to = |format: &str| format!("convert {markers} -o - --to {format}");
    check("convert-collapsed", &mut with(&to("collapsed")));
    check("convert-cpuprofile", &mut with(&to("cpuprofile")));
    check("convert-chrome", &mut with(&to("chrome")));
    check("convert-firefox", &mut with(&to("firefox")));
    check("convert-speedscope", &mut with(&to("speedscope")));
    check("convert-explainer", &mut with(&to("explainer")));
    check(
        "convert-thread",
        with("convert tests/fixtures/waiting.json -o - --to collapsed").args(["--thread", "app 7 worker-1"]),
    );
    check("convert-marks", &mut with("convert tests/fixtures/marks.json -o - --to firefox"));
    check("convert-broken", &mut with("convert tests/fixtures/broken.json -o - --to w3c"));
    check(
        "convert-of-v8",
        &mut with("convert ../formats/fixtures/cpuprofile/node-20-small.cpuprofile -o - --to w3c"),
    );
    check("top-of-v8", &mut with("top --top 3 ../formats/fixtures/cpuprofile/node-20-small.cpuprofile"));
}

#[test]
fn convert_that_fails() {
    let small = "../formats/fixtures/w3c/chromium-156-small.json";
    check("convert-nothing", &mut with("convert"));
    check("convert-missing", &mut with("convert nowhere.json -o out.cpuprofile"));
    check(
        "convert-no-such-thread",
        &mut with("convert tests/fixtures/waiting.json -o - --to w3c --thread vite"),
    );
    check("convert-unknown-name", &mut with(&format!("convert {small} -o out.txt")));
    check("convert-unknown-stream", &mut with(&format!("convert {small} -o -")));
    check("convert-to-directory", &mut with(&format!("convert {small} -o tests --to w3c")));
    check("convert-to-nowhere", &mut with(&format!("convert {small} -o nowhere/out.json")));
    check("convert-bad-format", &mut with(&format!("convert {small} -o - --to svg")));
    check("convert-from-other", &mut with(&format!("convert {small} -o - --to w3c --from cpuprofile")));
    check("convert-not-a-trace", &mut with("convert Cargo.toml -o - --to w3c"));
    check("convert-write-only", &mut with("convert tests/fixtures/written.collapsed -o - --to w3c"));
}

/// The name of the output selects the format. Formats that selfprof reads are converted back.
#[test]
fn the_name_of_the_output_selects_the_format() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let convert = |from: &Path, to: &Path| {
        let output = output(selfprof().arg("convert").arg(from).arg("-o").arg(to));
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    };
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/fixtures/w3c/chromium-156-small.json");
    for name in ["a.cpuprofile", "a.explainer.json.gz", "a.json.gz"] {
        convert(&source, &path(name));
        convert(&path(name), &path("back.json"));
        let tables = [&source, &path(name), &path("back.json")]
            .map(|file| text(&output(selfprof().arg("top").arg(file)).stdout));
        assert!(
            tables[0].contains("self ms") && tables.iter().all(|table| *table == tables[0]),
            "{tables:?}"
        );
    }
    let begins_with = |name: &str, start: &[u8]| {
        assert!(!start.is_empty(), "{name}: everything begins with nothing");
        convert(&source, &path(name));
        let content = fs::read(path(name)).unwrap();
        assert!(content.starts_with(start), "{name}: {}", String::from_utf8_lossy(&content));
    };
    begins_with("a.pb.gz", &[0x1f, 0x8b]);
    begins_with("a.pprof", &[0x1f, 0x8b]);
    begins_with("a.pb", &[0x0a]);
    begins_with("a.trace.json", br#"{"metadata":{"source":"selfprof"},"traceEvents":["#);
    begins_with("a.firefox.json", br#"{"meta":{"#);
    begins_with("a.speedscope.json", br#"{"$schema":"https://www.speedscope.app/"#);
    begins_with("a.collapsed", b"runSmall (https://web-platform.test:8443/busy/busy.js:9:24) 91800\n");
    begins_with("a.otlp.gz", &[0x1f, 0x8b]);
}

#[test]
fn run_that_fails_before_the_program() {
    let script = "tests/fixtures/scripts/busy.js";
    check("run-nothing", &mut with("run"));
    check("run-no-script", &mut with("run nowhere.js"));
    check("run-no-program", &mut with("run nowhere"));
    check("run-native-program", &mut with("run --no-children /bin/cat Cargo.toml"));
    check("run-bad-duration", &mut with(&format!("run --duration 0 {script}")));
    check("run-delay-and-toggle", &mut with(&format!("run --delay 1 --toggle SIGUSR2 {script}")));
    check("run-permission-model", &mut with(&format!("run -- --permission {script}")));
    check("run-no-extension", &mut with("run tests/fixtures/scripts/module"));
    check("run-bad-interval", &mut with(&format!("run -i 0 {script}")));
    check("run-fraction-interval", &mut with(&format!("run -i 0.5 {script}")));
    check("run-bad-mode", &mut with(&format!("run --mode sometimes {script}")));
    check("run-no-directory", &mut with(&format!("run -o nowhere/trace.json {script}")));
    check("run-output-is-directory", &mut with(&format!("run -o tests {script}")));
    check("run-no-node", with(&format!("run {script}")).env("PATH", ""));
    check("run-not-a-node", &mut with(&format!("run --node /bin/true {script}")));
    check("run-no-package", with(&format!("run {script}")).env("SELFPROF_NPM", "tests"));
}

#[test]
fn page_that_fails_before_the_page() {
    check("page-nothing", &mut with("page"));
    check("page-no-file", &mut with("page nowhere.html"));
    check("page-no-scheme", &mut with("page localhost:8000/a"));
    check("page-other-scheme", &mut with("page ftp://example.com/"));
    check("page-directory", &mut with("page tests"));
    check("page-bad-wait", &mut with("page --wait forever tests/fixtures/pages/busy.html"));
    check("page-no-directory", &mut with("page -o nowhere/trace.json about:blank"));
    let package = package();
    let old_node = "--node tests/fixtures/nodes/node-18";
    check("page-old-node", with(&format!("page {old_node} about:blank")).env("SELFPROF_NPM", package.path()));
    check("webdriver-old-node", with(&format!("webdriver {old_node}")).env("SELFPROF_NPM", package.path()));
    check("webdriver-bad-port", &mut with("webdriver --port 70000"));
}

/// An npm package with addons for Node.js 20 and 24 on Linux x64.
fn package() -> tempfile::TempDir {
    let package = tempfile::tempdir().unwrap();
    let addons = package.path().join("node_modules/@selfprof/native-linux-x64");
    fs::create_dir_all(&addons).unwrap();
    for (folder, name) in [
        (package.path(), "package.json"),
        (package.path(), "run.cjs"),
        (&addons, "package.json"),
        (&addons, "selfprof-linux-x64-115.node"),
        (&addons, "selfprof-linux-x64-137.node"),
    ] {
        fs::write(folder.join(name), "").unwrap();
    }
    package
}

/// An unsupported version of Node.js, and a platform without addons.
#[test]
fn run_without_an_addon() {
    let script = "tests/fixtures/scripts/busy.js";
    let node = |name: &str| format!("run --node tests/fixtures/nodes/{name} {script}");
    let package = package();
    check("run-no-addon", with(&node("node-22")).env("SELFPROF_NPM", package.path()));
    check("run-old-node", with(&node("node-18")).env("SELFPROF_NPM", package.path()));
    check("run-no-addons", with(&node("node-on-arm")).env("SELFPROF_NPM", package.path()));
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
