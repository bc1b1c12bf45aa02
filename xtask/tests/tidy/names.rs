//! The names of files, and what no file may contain.

use crate::checkout::{files, root};
use crate::none;
use std::collections::BTreeMap;

#[test]
fn files_are_named_after_what_they_hold() {
    const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc"];
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| !file.name.starts_with("fixtures/")) {
        let parts = file.name.split('/').map(|part| part.split('.').next().unwrap_or(part));
        for part in parts.filter(|part| EMPTY_NAMES.contains(part)) {
            problems.push(format!("{}: `{part}` does not say what is in it", file.name));
        }
    }
    none(&problems);
}

#[test]
fn files_in_sibling_folders_have_names_of_their_own() {
    const ENDS: &[&str] = &["rs", "cjs", "mjs", "js", "ts"];
    // Tests of JavaScript are named after what they test.
    let is_source = |name: &str| {
        let is_script = ["packages/", "ui/", "collector/page/"].iter().any(|folder| name.starts_with(folder));
        let is_rust = ["crates/", "collector/", "xtask/"].iter().any(|folder| name.starts_with(folder));
        ((is_rust && name.contains("/src/")) || (is_script && !name.contains("/test/")))
            && name.rsplit('.').next().is_some_and(|end| ENDS.contains(&end))
    };
    let names: Vec<String> =
        files().into_iter().map(|file| file.name).filter(|name| is_source(name)).collect();
    none(&namesakes(&names));
}

/// Files of one name in sibling folders, which have the same parent folder. Three kinds of names are not counted: those
/// of entries of folders, that of the configuration that Vite looks for, and those of the parts that each format and
/// each module has: what reads it, what writes it, its tests.
fn namesakes(names: &[String]) -> Vec<String> {
    const ENTRIES: &[&str] = &["index", "main", "mod", "lib", "vite"];
    const PARTS: &[&str] = &["read", "write", "tests"];
    // By the folder that they have in common, and their own name without its extensions.
    let mut found: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for name in names {
        let Some((folder, file)) = name.rsplit_once('/') else { continue };
        let Some((parent, _)) = folder.rsplit_once('/') else { continue };
        let stem = file.split('.').next().unwrap_or(file);
        if !ENTRIES.contains(&stem) && !PARTS.contains(&stem) {
            found.entry((parent, stem)).or_default().push(name);
        }
    }
    let folder_of = |name: &str| name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    found
        .into_values()
        .filter(|files| files.iter().any(|file| folder_of(file) != folder_of(files[0])))
        .map(|files| format!("{} have one name in sibling folders", files.join(" and ")))
        .collect()
}

#[test]
fn namesakes_in_sibling_folders_are_found() {
    #[track_caller]
    fn check(names: &[&str], expected: usize) {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(namesakes(&names).len(), expected, "{names:?}");
    }
    check(&["p/src/host/workers.cjs", "p/src/client/workers.cjs"], 1);
    check(&["p/src/host/workers.cjs", "p/src/client/workers.mjs", "p/src/fetch/workers.cjs"], 1);
    check(&["p/src/host/workers.cjs", "p/src/host/workers.mjs"], 0);
    check(&["p/src/host/index.cjs", "p/src/client/index.cjs"], 0);
    // Not siblings: the folders have different parents.
    check(&["a/src/read.rs", "b/src/read.rs", "a/src/x/read.rs"], 0);
}

/// A path of the machine that wrote a file, or a note to do something later, is of no use to a reader.
#[test]
fn nothing_was_left_lying_about() {
    const LATER: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
    let mut places = vec![root().display().to_string()];
    places.extend(std::env::var("HOME").ok().map(|home| format!("{}/", home.trim_end_matches('/'))));
    // A root like /src would be found in every path.
    places.retain(|place| place.split('/').filter(|part| !part.is_empty()).count() > 1 || place == "/root/");
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| file.name != "xtask/tests/tidy/names.rs") {
        for (number, line) in (1..).zip(file.text.lines()) {
            let is_word = |word: &&&str| {
                line.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == **word)
                    && !is_data(&file.name)
            };
            for word in LATER.iter().filter(is_word) {
                problems.push(format!("{}:{number}: {word}", file.name));
            }
            for place in places.iter().filter(|place| line.contains(place.as_str())) {
                problems.push(format!("{}:{number}: {place} is a place on one machine", file.name));
            }
        }
    }
    none(&problems);
}

fn is_data(name: &str) -> bool {
    const FOLDERS: &[&str] = &["fixtures/", "fuzz/corpus/", "fuzz/findings/"];
    FOLDERS.iter().any(|folder| name.starts_with(folder))
        || name.ends_with(".lock")
        || name.ends_with(".json")
}
