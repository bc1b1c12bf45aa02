//! Source maps, found in all the ways in which they are found.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{output, selfprof, text};
use tempfile::TempDir;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/source-maps");

/// A folder with a trace of the script `app.min.js` in it.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        let trace = fs::read_to_string(fixture("minified.json")).unwrap();
        let url = format!("file://{}/", place.directory.path().display());
        fs::write(place.path("trace.json"), trace.replace("https://example.com/", &url)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes the script with this at its end in place of its comment.
    fn write_script(&self, end: &str) {
        let script = fs::read_to_string(fixture("app.min.js")).unwrap();
        let code = script.split("//# sourceMappingURL").next().unwrap();
        fs::write(self.path("app.min.js"), format!("{code}{end}\n")).unwrap();
    }

    fn write_map(&self, name: &str, map: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), map).unwrap();
    }

    /// The names of the hottest functions, and what is said beside them.
    fn top(&self, words: &str) -> (Vec<String>, String) {
        let mut command = selfprof();
        command.current_dir(self.directory.path()).args(["top", "--top", "3", "--json", "trace.json"]);
        let output = output(command.args(words.split_whitespace()));
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
    fn check(place: &Place, words: &str, names: [&str; 3], said: &str) {
        let (found, talk) = place.top(words);
        assert_eq!(found, names, "{talk}");
        assert!(talk.contains(said), "{talk}");
    }
    let by_one = "source maps: 7 functions placed by 1 map, 1 unknown to them, 22 of scripts without one";
    let id = "85314830-023f-4cf1-a267-535f4e37bb17";
    let with_id = map().replacen('{', &format!("{{\"debugId\":\"{id}\","), 1);

    let place = Place::new();
    check(&place, "", GENERATED, "");
    // Beside the script.
    place.write_script("//# sourceMappingURL=maps/app.map");
    check(&place, "", GENERATED, "");
    place.write_map("maps/app.map", &map());
    check(&place, "", ORIGINAL, by_one);
    check(&place, "--no-source-maps", GENERATED, "");
    // Inline.
    place.write_script(&format!(
        "//# sourceMappingURL=data:application/json;base64,{}",
        base64(map().as_bytes())
    ));
    check(&place, "", ORIGINAL, by_one);
    // By name, for a script that is not here, and among several of the name.
    fs::remove_file(place.path("app.min.js")).unwrap();
    place.write_map("other/dist/app.min.js.map", "{}");
    let folder = place.directory.path().file_name().unwrap().to_str().unwrap().to_owned();
    place.write_map(&format!("other/{folder}/app.min.js.map"), &map());
    check(&place, "--source-maps other", ORIGINAL, by_one);
    check(&place, "--source-maps maps", GENERATED, "source maps: none found");
    // By debug id.
    place.write_map("ids/one.map", &with_id.replace(id, "00000000-0000-0000-0000-000000000000"));
    place.write_map("ids/two.map", &with_id);
    place.write_script(&format!("//# debugId={}", id.to_uppercase()));
    check(&place, "--source-maps ids", ORIGINAL, by_one);
}

#[test]
fn bad_maps_lose_nothing() {
    let place = Place::new();
    place.write_script("//# sourceMappingURL=app.map");
    for map in ["", "hello", "{\"version\":3,\"sources\":[],\"names\":[],\"mappings\":\"!\"}", "[[[[[[[["] {
        place.write_map("app.map", map);
        let (names, talk) = place.top("");
        assert_eq!(names, GENERATED);
        assert!(
            talk.starts_with("warning: the source map of ") && talk.contains("/app.map is of no use: "),
            "{talk}"
        );
    }
    // What is no file is not opened: it might have no end.
    place.write_script("//# sourceMappingURL=/dev/zero");
    assert_eq!(place.top("").0, GENERATED);
}

#[test]
fn scopes_name_and_hide_functions() {
    let place = Place::new();
    place.write_script("//# sourceMappingURL=app.map");
    let scoped = |scopes: &str| {
        map().replacen('{', &format!("{{\"scopes\":\"{scopes}\","), 1).replacen(
            "\"names\": [",
            "\"names\": [\"inOrder\",",
            1,
        )
    };
    // `b`, from column 553, is what they call inOrder, and what it compares with from column 568 on is hidden.
    place.write_map("app.map", &scoped("BFAAA,CAB,EGpRA,EMP,FgB,FA"));
    let (names, talk) = place.top("");
    assert_eq!(names, ["get value", "inOrder", "countVowels"], "{talk}");
    let said = "source maps: 6 functions placed by 1 map, 1 that they hide left out, 1 unknown to them, 22 of scripts";
    assert!(talk.contains(said), "{talk}");
    // Bad ones change nothing.
    place.write_map("app.map", &scoped("BFAAA,CAB,EGpRA,EMP,FgB"));
    let (names, talk) = place.top("");
    assert_eq!(names, ORIGINAL, "{talk}");
    let said = "/app.map are of no use: what it begins does not end\nsource maps: 7 functions placed by 1 map, 1 unknown";
    assert!(talk.starts_with("warning: the scopes in the source map of ") && talk.contains(said), "{talk}");
}

#[test]
fn converted_profiles_have_original_places() {
    let place = Place::new();
    place.write_script("//# sourceMappingURL=app.map");
    place.write_map("app.map", &map());
    let out = place.path("out.collapsed");
    let run = output(selfprof().arg("convert").arg(place.path("trace.json")).arg("-o").arg(&out));
    assert_eq!(run.status.code(), Some(0));
    let lines = fs::read_to_string(out).unwrap();
    let parent = place.directory.path().parent().unwrap().display().to_string();
    assert!(lines.contains(&format!("sortRows (file://{parent}/src/app.ts:8:19)")), "{lines}");
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte))
            << (8 * (3 - three.len()));
        for digit in 0..4 {
            let is_there = digit <= three.len();
            text.push(if is_there { DIGITS[bits >> (18 - 6 * digit) & 63].into() } else { '=' });
        }
    }
    text
}
