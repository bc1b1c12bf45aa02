//! Finding and applying source maps.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::BASE64;
use support::{output, selfprof, text};
use tempfile::TempDir;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/source-maps");

/// A temporary directory with a trace of the script `app.min.js`.
struct TestDirectory {
    folder: TempDir,
}

impl TestDirectory {
    fn new() -> Self {
        let directory = Self { folder: tempfile::tempdir().unwrap() };
        let trace = fs::read_to_string(fixture("minified.json")).unwrap();
        let url = format!("file://{}/", directory.folder.path().display());
        fs::write(directory.path("trace.json"), trace.replace("https://example.com/", &url)).unwrap();
        directory
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the script with `end` in directory of its last comment.
    fn write_script(&self, end: &str) {
        let script = fs::read_to_string(fixture("app.min.js")).unwrap();
        let code = script.split("//# sourceMappingURL").next().unwrap();
        fs::write(self.path("app.min.js"), format!("{code}{end}\n")).unwrap();
    }

    fn write_map(&self, name: &str, map: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), map).unwrap();
    }

    /// The names of the functions with the most self time, and stderr.
    fn top(&self, options: &str) -> (Vec<String>, String) {
        let mut command = selfprof();
        command.current_dir(self.folder.path()).args(["top", "--top", "3", "--json", "trace.json"]);
        let output = output(command.args(options.split_whitespace()));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let functions = json["functions"].as_array().cloned().unwrap_or_default();
        (functions.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect(), text(&output.stderr))
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(FIXTURES).join(name)
}

fn map() -> String {
    fs::read_to_string(fixture("app.min.js.map")).unwrap()
}

const ORIGINAL: [&str; 3] = ["get value", "sortRows", "countVowels"];
const GENERATED: [&str; 3] = ["get value", "b", "countVowels"];

#[test]
fn maps_are_found() {
    #[track_caller]
    fn check(directory: &TestDirectory, options: &str, names: [&str; 3], message: &str) {
        let (found, stderr) = directory.top(options);
        assert_eq!(found, names, "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
    }
    let by_one = "source maps: 8 functions mapped by 1 source map\n";
    let id = "85314830-023f-4cf1-a267-535f4e37bb17";
    let with_id = map().replacen('{', &format!("{{\"debugId\":\"{id}\","), 1);

    let directory = TestDirectory::new();
    check(&directory, "", GENERATED, "");
    // Beside the script.
    directory.write_script("//# sourceMappingURL=maps/app.map");
    check(&directory, "", GENERATED, "");
    directory.write_map("maps/app.map", &map());
    check(&directory, "", ORIGINAL, by_one);
    check(&directory, "--no-source-maps", GENERATED, "");
    // Inline.
    directory.write_script(&format!(
        "//# sourceMappingURL=data:application/json;base64,{}",
        BASE64.encode(map().as_bytes())
    ));
    check(&directory, "", ORIGINAL, by_one);
    // By name, for a script that is not here, and among several of the name.
    fs::remove_file(directory.path("app.min.js")).unwrap();
    directory.write_map("other/dist/app.min.js.map", "{}");
    let folder = directory.folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    directory.write_map(&format!("other/{folder}/app.min.js.map"), &map());
    check(&directory, "--source-maps other", ORIGINAL, by_one);
    check(&directory, "--source-maps maps", GENERATED, "source maps: none found");
    // By debug id.
    directory.write_map("ids/one.map", &with_id.replace(id, "00000000-0000-0000-0000-000000000000"));
    directory.write_map("ids/two.map", &with_id);
    directory.write_script(&format!("//# debugId={}", id.to_uppercase()));
    check(&directory, "--source-maps ids", ORIGINAL, by_one);
}

#[test]
fn bad_maps_are_ignored() {
    let directory = TestDirectory::new();
    directory.write_script("//# sourceMappingURL=app.map");
    for map in ["", "hello", "{\"version\":3,\"sources\":[],\"names\":[],\"mappings\":\"!\"}", "[[[[[[[["] {
        directory.write_map("app.map", map);
        let (names, stderr) = directory.top("");
        assert_eq!(names, GENERATED);
        assert!(
            stderr.starts_with("warning: ignored the source map of ") && stderr.contains("/app.map: "),
            "{stderr}"
        );
    }
    // Only regular files are opened: a device might never end.
    directory.write_script("//# sourceMappingURL=/dev/zero");
    assert_eq!(directory.top("").0, GENERATED);
}

/// The name and place of the only function of a trace, `name file:line:column`, and stderr. `files` are the names and
/// contents of files, and `options` follow `selfprof top`. In `url`, CASE is their folder.
fn only_function(url: &str, files: &[(&str, &str)], options: &[&str]) -> (String, String) {
    mapped_function(("f", 1, 11), url, files, options)
}

/// The same for a function with this name, line and column.
fn mapped_function(
    (name, line, column): (&str, u32, u32),
    url: &str,
    files: &[(&str, &str)],
    options: &[&str],
) -> (String, String) {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let folder = directory.path().display().to_string();
    let trace = serde_json::json!({
        "resources": [url.replace("CASE", &folder)],
        "frames": [{ "name": name, "resourceId": 0, "line": line, "column": column }],
        "stacks": [{ "frameId": 0 }],
        "samples": [{ "timestamp": 0, "stackId": 0 }, { "timestamp": 10, "stackId": 0 }],
    });
    fs::write(directory.path().join("t.json"), trace.to_string()).unwrap();
    let mut command = selfprof();
    let output =
        output(command.current_dir(directory.path()).args(["top", "--json", "t.json"]).args(options));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &json["functions"][0];
    let file = row["resource"].as_str().unwrap().replace(&format!("file://{folder}/"), "");
    let inferred = row["inferredName"].as_str().map(|name| format!("{name}*"));
    let name = inferred.unwrap_or_else(|| row["name"].as_str().unwrap().to_owned());
    let function = format!("{name} {file}:{}:{}", row["line"], row["column"]);
    (function, text(&output.stderr).replace(&folder, ""))
}

const SCRIPT: &str = "function f(x){return x}\n//# sourceMappingURL=";

/// A map of [`SCRIPT`].
const SCRIPT_MAP: &str = r#"{"version":3,"sources":["a.ts"],"names":["original"],"sourcesContent":["// hi\nfunction original(x) { return x }\n"],"mappings":"AACA,SAASA,QAAQ"}"#;

#[test]
fn percent_encoded_urls_find_their_files() {
    #[track_caller]
    fn check(url: &str, script: (&str, &str), map: &str, options: &[&str]) {
        let code = format!("{SCRIPT}{}", script.1);
        let (found, stderr) = only_function(url, &[(script.0, &code), (map, SCRIPT_MAP)], options);
        assert!(found.starts_with("original ") && found.ends_with("a.ts:2:10"), "{found} {stderr}");
    }
    let dynamic = ("site/[slug]-1a.js", "%5Bslug%5D-1a.js.map");
    let map = "site/[slug]-1a.js.map";
    check("https://x.test/_next/static/%5Bslug%5D-1a.js", dynamic, map, &["--source-maps", "."]);
    check("https://x.test/_next/static/[slug]-1a.js?dpl=1", dynamic, map, &["--source-maps", "."]);
    check("file://CASE/site/%5Bslug%5D-1a.js", dynamic, map, &[]);
    check("file://CASE/site/%5Bslug%5D-1a.js?v=2#x", dynamic, map, &[]);
    check("CASE/site/[slug]-1a.js", dynamic, map, &[]);
    // Names that contain `%`, and queries of maps.
    check("file://CASE/100%25.js", ("100%.js", "100%25.js.map?x#y"), "100%.js.map", &[]);
    check("file://CASE/a%2520b.js", ("a%20b.js", "a%20b.js.map"), "a%20b.js.map", &[]);
    // The map is found by the script's name, in the folder that is most like the URL.
    let other = [("x/[id]/a.js.map", SCRIPT_MAP), ("x/other/a.js.map", "{}"), ("x/a.js.map", "{}")];
    let (found, stderr) =
        only_function("https://x.test/%5Bid%5D/a.js?q=/other/", &other, &["--source-maps", "x"]);
    assert!(found.starts_with("original "), "{found} {stderr}");
}

/// What esbuild makes of a class with "every class to be parsed" in a comment: V8's name is not replaced.
#[test]
fn constructors_keep_the_name_of_their_class() {
    let code = "export class Parser {\n  items = [];\n  // every class to be parsed is kept here\n  constructor(n) {\n    for (let i = 0; i < n; i++) this.items.push(Math.sqrt(i) * 2);\n  }\n}\n//# sourceMappingURL=out.js.map\n";
    let map = r#"{"version":3,"sources":["src.ts"],"sourcesContent":["export class Parser {\n  items: number[] = [];\n  // every class to be parsed is kept here\n  constructor(n: number) {\n    for (let i = 0; i < n; i++) this.items.push(Math.sqrt(i) * 2);\n  }\n}\n"],"mappings":"AAAO,aAAM,OAAO;AAAA,EAClB,QAAkB,CAAC;AAAA;AAAA,EAEnB,YAAY,GAAW;AACrB,aAAS,IAAI,GAAG,IAAI,GAAG,IAAK,MAAK,MAAM,KAAK,KAAK,KAAK,CAAC,IAAI,CAAC;AAAA,EAC9D;AACF","names":[]}"#;
    let files = [("out.js", code), ("out.js.map", map)];
    let (found, stderr) = mapped_function(("Parser", 4, 14), "file://CASE/out.js", &files, &[]);
    assert_eq!(found, "Parser src.ts:4:3", "{stderr}");
}

/// What tsc makes of `export class C { clear = () => ... }`, without the original.
#[test]
fn generated_scripts_name_functions_whose_source_is_missing() {
    let code = "\"use strict\";\nObject.defineProperty(exports, \"__esModule\", { value: true });\nexports.C = void 0;\nclass C {\n    constructor() {\n        this.clear = () => { let s = 0; for (let i = 0; i < 3e8; i++)\n            s += i % 3; return s; };\n    }\n}\n//# sourceMappingURL=bar.js.map\n";
    let map = r#"{"version":3,"file":"bar.js","sourceRoot":"","sources":["../bar.ts"],"names":[],"mappings":";;;AAAA,MAAa,CAAC;IAAd;QAAiB,UAAK,GAAG,GAAG,EAAE,GAAG,IAAI,CAAC,GAAG,CAAC,CAAC"}"#;
    let files = [("dist/bar.js", code), ("dist/bar.js.map", map)];
    let (found, stderr) = mapped_function(("", 6, 22), "file://CASE/dist/bar.js", &files, &[]);
    assert_eq!(found, "clear* bar.ts:1:26", "{stderr}");
    // The original, if it is there, comes first.
    let original = "export class C { tidy_ = () => { let s = 0; return s; } }";
    let files = [("dist/bar.js", code), ("dist/bar.js.map", map), ("bar.ts", original)];
    let (found, stderr) = mapped_function(("", 6, 22), "file://CASE/dist/bar.js", &files, &[]);
    assert_eq!(found, "tidy_* bar.ts:1:26", "{stderr}");
    let computed = "Jimp[name] = () => 1;\n";
    let (found, _) = mapped_function(("", 1, 14), "file://CASE/a.js", &[("a.js", computed)], &[]);
    assert_eq!(found, "Jimp.<computed>* a.js:1:14");
}

/// What esbuild, esbuild --bundle and tsc make of a module that starts with a comment and a type.
#[test]
fn top_level_code_has_one_form() {
    #[track_caller]
    fn check(column: u32, mappings: &str, sources: &str, expected: &str) {
        let map = format!(r#"{{"version":3,"sources":[{sources}],"names":[],"mappings":"{mappings}"}}"#);
        let code = "(() => {\n  // src.ts\n})();\n//# sourceMappingURL=src.js.map\n";
        let files = [("o/src.js", code), ("o/src.js.map", &map)];
        let (found, stderr) = mapped_function(("", 1, column), "file://CASE/o/src.js", &files, &[]);
        assert_eq!(found, expected, "{stderr}");
    }
    let one = r#""../src.ts""#;
    check(1, "AAEA,IAAI,IAAO;AACX,SAAS", one, "(top level)* src.ts:1:1");
    check(1, ";;AAEA,MAAI,IAAO;AACX,WAAS", one, "(top level)* src.ts:1:1");
    check(1, "IAEA,IAAI,CAAC,GAAM,CAAC,CAAC;AACb,KAAK", one, "(top level)* src.ts:1:1");
    // The function that esbuild puts around a bundle.
    check(2, ";;AAEA,MAAI,IAAO;AACX,WAAS", one, "(top level)* src.ts:1:1");
    // That of tsx is behind the path of the script.
    check(33, ";AAEA,IAAI,EAAO", one, "(top level)* src.ts:1:1");
    check(2, ";;AAEA;ACAA", r#""../a.ts","../b.ts""#, "(IIFE)* o/src.js:1:2");
    // A script of several sources is none of them.
    check(1, "AAAA,IAAI;ACAJ", r#""../a.ts","../b.ts""#, "(top level)* o/src.js:1:1");
    let (found, _) = mapped_function(("", 1, 1), "https://x.test/gone.js", &[], &[]);
    assert_eq!(found, "(top level)* https://x.test/gone.js:1:1");
}

#[test]
fn maps_with_flaws_are_read() {
    #[track_caller]
    fn check(link: &str, map: &str, expected: &str, warning: &str) {
        let code = format!("{SCRIPT}{link}\n");
        let (found, stderr) = only_function("file://CASE/f.js", &[("f.js", &code), ("g.map", map)], &[]);
        assert_eq!(found, expected, "{stderr}");
        let is_warned = stderr.starts_with(&format!("warning: ignored in the source map of {warning}\n"));
        assert!(is_warned || warning.is_empty() && !stderr.contains("warning"), "{stderr}");
    }
    let original = "original a.ts:2:10";
    check("g.map", &format!("\u{FEFF}{SCRIPT_MAP}"), original, "");
    let encoded = SCRIPT_MAP.replace('%', "%25").replace('"', "%22").replace(' ', "%20").replace('\\', "%5C");
    check(&format!("data:application/json,{encoded}"), "", original, "");
    let base64 = BASE64.encode(SCRIPT_MAP.as_bytes());
    check(
        &format!("data:application/json;charset=utf-8;base64,{}", base64.trim_end_matches('=')),
        "",
        original,
        "",
    );
    // The place in a source without a name says nothing; the name does.
    check("g.map", &SCRIPT_MAP.replace("[\"a.ts\"]", "[null]"), "original f.js:1:11", "");
    let negative = r#"{"version":3,"names":[],"sources":["a.ts"],"mappings":"AAFA"}"#;
    check(
        "g.map",
        negative,
        "f f.js:1:11",
        "/g.map: a mapping (of line 1, with a number that is negative or too large)",
    );
    check(
        "g.map",
        &SCRIPT_MAP.replace("[\"original\"]", "7"),
        original,
        "/g.map: the field names (it is not a list), and 1 more problem",
    );
    let linked = r#"{"version":3,"sections":[{"offset":{"line":0,"column":0},"url":"part.map"}]}"#;
    check("g.map", linked, "f f.js:1:11", "/g.map: section 1 (it is at part.map, and URLs are not fetched)");
}

/// Scripts that are compiled in memory have no file, or another text than their file.
#[test]
fn maps_in_the_trace_come_first() {
    let directory = TestDirectory::new();
    let trace = fs::read_to_string(directory.path("trace.json")).unwrap();
    let with_map = |map: &str| {
        let mut json: serde_json::Value = serde_json::from_str(&trace).unwrap();
        let resources = json["resources"].as_array().unwrap();
        let id = resources.iter().position(|url| url.as_str().unwrap().ends_with("/app.min.js")).unwrap();
        let map: serde_json::Value = serde_json::from_str(map).unwrap();
        json["sourceMaps"] = serde_json::json!([{ "resourceId": id, "map": map }]);
        fs::write(directory.path("trace.json"), json.to_string()).unwrap();
    };
    with_map(&map());
    assert_eq!(directory.top("").0, ORIGINAL);
    assert_eq!(directory.top("--no-source-maps").0, GENERATED);
    directory.write_script("//# sourceMappingURL=app.map");
    directory.write_map("app.map", "{}");
    assert_eq!(directory.top("").0, ORIGINAL);
    // A bad one changes nothing.
    directory.write_map("app.map", &map());
    with_map(r#"{"version":3,"sources":[],"names":[],"mappings":"!"}"#);
    let (names, stderr) = directory.top("");
    assert_eq!(names, ORIGINAL);
    assert!(stderr.starts_with("warning: ignored the source map of file:///"), "{stderr}");
    // Converting keeps the map only if it is not applied.
    with_map(&map());
    for (options, is_kept) in [("", false), ("--no-source-maps", true)] {
        let mut command = selfprof();
        command.current_dir(directory.folder.path()).args([
            "convert",
            "trace.json",
            "--to",
            "w3c",
            "-o",
            "-",
        ]);
        let converted = text(&output(command.args(options.split_whitespace())).stdout);
        assert_eq!(converted.contains("\"sourceMaps\":[{\"map\":{"), is_kept, "{converted}");
    }
}

#[test]
fn scopes_rename_and_hide_functions() {
    let directory = TestDirectory::new();
    directory.write_script("//# sourceMappingURL=app.map");
    let scoped = |scopes: &str| {
        map().replacen('{', &format!("{{\"scopes\":\"{scopes}\","), 1).replacen(
            "\"names\": [",
            "\"names\": [\"inOrder\",",
            1,
        )
    };
    // The scopes name the function `b` at column 553 `inOrder`, and hide its callback at column 568.
    directory.write_map("app.map", &scoped("BFAAA,CAB,EGpRA,EMP,FgB,FA"));
    let (names, stderr) = directory.top("");
    assert_eq!(names, ["get value", "inOrder", "countVowels"], "{stderr}");
    let message = "source maps: 7 functions mapped by 1 source map, 1 hidden\n";
    assert!(stderr.contains(message), "{stderr}");
    // Bad scopes are ignored; the mappings still apply.
    directory.write_map("app.map", &scoped("BFAAA,CAB,EGpRA,EMP,FgB"));
    let (names, stderr) = directory.top("");
    assert_eq!(names, ORIGINAL, "{stderr}");
    let start = "warning: ignored in the source map of ";
    let rest =
        "/app.map: the scopes (a scope is not closed)\nsource maps: 8 functions mapped by 1 source map\n";
    assert!(stderr.starts_with(start) && stderr.contains(rest), "{stderr}");
}

#[test]
fn converted_profiles_have_original_locations() {
    let directory = TestDirectory::new();
    directory.write_script("//# sourceMappingURL=app.map");
    directory.write_map("app.map", &map());
    let out = directory.path("out.collapsed");
    let run = output(selfprof().arg("convert").arg(directory.path("trace.json")).arg("-o").arg(&out));
    assert_eq!(run.status.code(), Some(0));
    let lines = fs::read_to_string(out).unwrap();
    let parent = directory.folder.path().parent().unwrap().display().to_string();
    assert!(lines.contains(&format!("sortRows (file://{parent}/src/app.ts:8:19)")), "{lines}");
}

/// A trace of `script.js` with functions at these positions of its second line, one sample each, the first with the
/// most time.
fn trace_of(url: &str, columns: &[usize]) -> String {
    let frames: Vec<_> = columns
        .iter()
        .map(|column| serde_json::json!({ "name": "", "resourceId": 0, "line": 2, "column": column }))
        .collect();
    let stacks: Vec<_> = (0..columns.len()).map(|frame| serde_json::json!({ "frameId": frame })).collect();
    let mut samples: Vec<_> = (0..columns.len())
        .map(|stack| serde_json::json!({ "timestamp": 1 + stack, "stackId": stack, "marker": "script" }))
        .collect();
    samples.insert(0, serde_json::json!({ "timestamp": 0 }));
    serde_json::json!({ "resources": [url], "frames": frames, "stacks": stacks, "samples": samples })
        .to_string()
}

#[test]
fn anonymous_functions_have_inferred_names() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let line = "pp.next = function () {}; arr.map(x => 1); x = [y => 2];";
    let columns = ["()", "x =>", "y =>"].map(|text| line.find(text).unwrap() + 1);
    let script = format!("'use strict';\n{line}\n");
    fs::write(path("script.js"), &script).unwrap();
    fs::write(path("trace.json"), trace_of(&format!("file://{}", path("script.js").display()), &columns))
        .unwrap();
    let run = |arguments: &str| {
        let mut command = selfprof();
        let output = output(command.current_dir(directory.path()).args(arguments.split_whitespace()));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };

    let table = run("top trace.json");
    for part in
        ["  pp.next*  ", "  (callback of arr.map)*  ", "  (anonymous)  ", "\n* inferred from the source\n"]
    {
        assert!(table.contains(part), "{table}");
    }
    assert!(!run("top --no-source-maps trace.json").contains('*'));
    let json: serde_json::Value = serde_json::from_str(&run("top --json trace.json")).unwrap();
    let names: Vec<Option<&str>> =
        json["functions"].as_array().unwrap().iter().map(|row| row["inferredName"].as_str()).collect();
    assert_eq!(names, [Some("pp.next"), Some("(callback of arr.map)"), None]);
    assert!(json["functions"].as_array().unwrap().iter().all(|row| row["name"] == ""));
    assert!(run("diff --all trace.json trace.json").contains("pp.next*"));
    let diff: serde_json::Value = serde_json::from_str(&run("diff --json trace.json trace.json")).unwrap();
    assert!(diff["functions"].as_array().unwrap().iter().any(|row| row["inferredName"] == "pp.next"));

    assert!(run("convert trace.json --to collapsed -o -").contains("pp.next*"));
    assert!(run("convert trace.json --to cpuprofile -o -").contains("\"pp.next*\""));
    assert!(!run("convert trace.json --to w3c -o -").contains("pp.next"));

    // A script that has changed since the recording is not the one that was recorded.
    let later = fs::metadata(path("trace.json")).unwrap().modified().unwrap() + Duration::from_secs(9);
    fs::File::options().write(true).open(path("script.js")).unwrap().set_modified(later).unwrap();
    assert!(!run("top trace.json").contains('*'));
    // Only regular files are read.
    fs::write(path("device.json"), trace_of("file:///dev/zero", &columns)).unwrap();
    assert!(!run("top device.json").contains('*'));
}

#[test]
fn names_are_inferred_from_the_sources_in_maps() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    // `function (` in the generated code is an arrow function in the source.
    let generated = "\na.b=[0,c.map(function(d){return d})];";
    let map = serde_json::json!({
        "version": 3, "sources": ["original.ts"], "names": [], "mappings": ";aAAW",
        "sourcesContent": ["values.map(value => value);"],
    });
    let column = generated.find("(d)").unwrap();
    fs::write(path("script.js"), format!("{generated}\n//# sourceMappingURL=script.js.map")).unwrap();
    fs::write(path("script.js.map"), map.to_string()).unwrap();
    fs::write(path("trace.json"), trace_of(&format!("file://{}", path("script.js").display()), &[column]))
        .unwrap();
    let mut command = selfprof();
    let output = output(command.current_dir(directory.path()).args(["top", "trace.json"]));
    assert!(text(&output.stdout).contains("(callback of values.map)*"), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("original.ts:1:12"), "{}", text(&output.stdout));
}
