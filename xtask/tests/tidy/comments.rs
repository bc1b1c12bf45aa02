//! Comments fit into the width of the code, and what they and the pages of documentation name is there.

use crate::checkout::{File, files, root};
use crate::none;

/// The longest line of a comment, in characters. rustfmt and Biome leave comments as they are.
const WIDTH: usize = 120;

/// Written by others, or a test of what others write.
const FOREIGN: &[&str] =
    &["fixtures/shop/releases/", "packages/page/wpt/fixture/", "packages/browser/test/stacks/", "/dist/"];

/// The files with code.
fn sources() -> Vec<File> {
    const ENDS: &[&str] = &[".rs", ".cjs", ".mjs", ".js", ".ts", ".cc", ".h"];
    let is_source = |name: &str| {
        ENDS.iter().any(|end| name.ends_with(end))
            && !FOREIGN.iter().any(|part| name.contains(part))
            && !name.contains("/fixtures/")
            && !name.starts_with("packages/selfprof/report/")
            && !name.starts_with("packages/selfprof/polyfill/")
    };
    files().into_iter().filter(|file| is_source(&file.name)).collect()
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") || line.starts_with("* ") || line.starts_with("/*")
}

#[test]
fn comments_are_no_wider_than_code() {
    let mut problems = Vec::new();
    for file in sources() {
        for (number, line) in (1..).zip(file.text.lines()) {
            let width = line.chars().count();
            // A table, JSON, an address, a type or code cannot be broken.
            let is_whole = ["://", "|", "`", "{@", "{\"", "\": ", "# use ", "@type", "@param"]
                .iter()
                .any(|part| line.contains(part));
            if is_comment(line) && width > WIDTH && !is_whole {
                problems.push(format!("{}:{number}: {width} columns", file.name));
            }
        }
    }
    none(&problems);
}

/// What a fresh clone does not have.
const BUILT: &[&str] = &[
    "packages/browser/dist",
    "packages/selfprof/report",
    "packages/selfprof/polyfill",
    "collector/page/dist",
];

/// The folders at the root whose paths are looked for.
const FOLDERS: &[&str] = &["collector", "crates", "docs", "fixtures", "fuzz", "packages", "ui", "xtask"];

#[test]
fn paths_in_comments_and_pages_exist() {
    let mut problems = Vec::new();
    let pages = files().into_iter().filter(|file| {
        file.name.ends_with(".md") && file.name != "CHANGELOG.md" && !file.name.contains("/fixtures/")
    });
    for file in sources().into_iter().chain(pages) {
        let is_page = file.name.ends_with(".md");
        for (number, line) in (1..).zip(file.text.lines()).filter(|(_, line)| is_page || is_comment(line)) {
            let is_built = |path: &&str| BUILT.iter().any(|folder| path.starts_with(folder));
            for path in paths(line).filter(|path| !is_built(path) && !root().join(path).exists()) {
                problems.push(format!("{}:{number}: there is no {path}", file.name));
            }
        }
    }
    none(&problems);
}

/// The paths in a text that begin with a folder at the root. Patterns and placeholders are not paths.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    text.split(move |c| !is_part(c) && !"*{}<>".contains(c)).filter_map(move |word| {
        let path = word.trim_end_matches(['.', '/']);
        let (folder, rest) = path.split_once('/')?;
        let is_placeholder = rest.chars().any(|c| !is_part(c) || c.is_ascii_uppercase());
        (FOLDERS.contains(&folder) && !is_placeholder).then_some(path)
    })
}

#[test]
fn paths_are_found() {
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(paths(text).collect::<Vec<_>>(), expected, "{text}");
    }
    check("See `crates/trace/src` and docs/api.md.", &["crates/trace/src", "docs/api.md"]);
    check("packages/*/src, fuzz/corpus/TARGET, node_modules/x, ../docs/api.md and crates/", &[]);
}
