//! Finding and applying source maps.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

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
    let by_one =
        "source maps: 7 functions mapped by 1 source map, 1 not in the maps, 22 in scripts without a map";
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
    let message =
        "source maps: 6 functions mapped by 1 source map, 1 hidden, 1 not in the maps, 22 in scripts";
    assert!(stderr.contains(message), "{stderr}");
    // Bad scopes are ignored; the mappings still apply.
    directory.write_map("app.map", &scoped("BFAAA,CAB,EGpRA,EMP,FgB"));
    let (names, stderr) = directory.top("");
    assert_eq!(names, ORIGINAL, "{stderr}");
    let start = "warning: ignored the scopes in the source map of ";
    let rest = "/app.map: a scope is not closed\nsource maps: 7 functions mapped by 1 source map, 1 not in";
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
