//! What the documentation says about the code must be true.

use crate::checkout::{files, members, root};
use crate::none;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn the_architecture_page_names_each_crate_and_no_other() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default();
    let members = members();
    let mut problems = Vec::new();
    let mut folders = BTreeSet::new();
    for package in &members {
        let folder = package.manifest_path.parent().and_then(|parent| parent.strip_prefix(root()).ok());
        let folder = folder.map(|folder| folder.as_str().replace('\\', "/")).unwrap_or_default();
        if !page.contains(&format!("{folder}/")) && !page.contains(&format!("`{folder}`")) {
            problems.push(format!("ARCHITECTURE.md does not name `{folder}`"));
        }
        folders.insert(folder);
    }
    for named in page.split("crates/").skip(1) {
        let name: String = named.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let folder = format!("crates/{name}");
        if !name.is_empty() && !folders.contains(&folder) {
            problems.push(format!("ARCHITECTURE.md names {folder}, which does not exist"));
        }
    }
    none(&problems);
}

#[test]
fn the_architecture_page_names_each_package() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default();
    let mut problems = Vec::new();
    let mut count = 0;
    for parent in ["packages", "ui"] {
        for entry in fs::read_dir(root().join(parent)).into_iter().flatten().flatten() {
            if !entry.path().join("package.json").is_file() {
                continue;
            }
            count += 1;
            problems.extend(unnamed(&page, parent, &entry.file_name().to_string_lossy()));
        }
    }
    assert!(count > 3, "the packages were not found");
    none(&problems);
}

/// The problem with a page that does not name the folder of a package by its path.
fn unnamed(page: &str, parent: &str, name: &str) -> Option<String> {
    let path = format!("{parent}/{name}");
    let is_named = |path: &str| {
        page.match_indices(path).any(|(at, _)| {
            // A path that continues does not name the package.
            !page[at + path.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
        })
    };
    (!is_named(&path)).then(|| format!("ARCHITECTURE.md does not name `{path}`"))
}

#[test]
fn packages_that_a_page_does_not_name_are_found() {
    assert!(unnamed("`packages/page/`: pages", "packages", "page").is_none());
    assert!(unnamed("`packages/pages/`: pages", "packages", "page").is_some());
    assert!(unnamed("a page", "packages", "page").is_some());
}

/// Each test file that `docs/security.md` names exists, and contains the tests that the page names after it.
#[test]
fn the_attacks_that_the_security_page_names_exist() {
    let mut problems = Vec::new();
    let text = fs::read_to_string(root().join("docs/security.md")).unwrap_or_default();
    let mut attacks = 0;
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let mut source: Option<String> = None;
        // The odd pieces between backticks are code, the rest may name tests.
        for (index, piece) in line.split('`').enumerate() {
            if index % 2 == 1 {
                if piece.ends_with(".test.mjs") {
                    // `page/` stands for the tests of the package of that name.
                    let file = match piece.strip_prefix("page/") {
                        Some(rest) => format!("packages/page/test/{rest}"),
                        None => format!("packages/selfprof/test/{piece}"),
                    };
                    source = fs::read_to_string(root().join(&file)).ok();
                    if source.is_none() {
                        problems.push(format!("docs/security.md names {file}, which does not exist"));
                    }
                }
                continue;
            }
            let Some(source) = &source else { continue };
            for name in piece.split('*').skip(1).step_by(2) {
                attacks += 1;
                // In the source, quotation marks may be escaped.
                if !source.replace("\\'", "'").contains(name) {
                    problems.push(format!(
                        "docs/security.md names the test \"{name}\", which is not in that file"
                    ));
                }
            }
        }
    }
    assert!(attacks > 20, "docs/security.md names attacks");
    none(&problems);
}

/// The tests that `docs/spec-conformance.md` names after a test file exist somewhere in the checkout. Names with
/// placeholders or brackets are not checked, because loops generate them.
#[test]
fn the_tests_that_the_conformance_page_names_exist() {
    let page = fs::read_to_string(root().join("docs/spec-conformance.md")).unwrap_or_default();
    let is_test = |name: &str| name.ends_with(".rs") || name.ends_with(".test.mjs");
    let tests: Vec<String> = files()
        .into_iter()
        .filter(|file| is_test(&file.name))
        .map(|file| file.text.replace("\\'", "'"))
        .collect();
    let exists = |name: &str| {
        // Tests in Rust have the words of the name.
        let words: Vec<&str> =
            name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let function = format!("fn {}(", words.join("_").to_lowercase());
        tests.iter().any(|text| text.contains(name) || text.contains(&function))
    };
    let mut problems = Vec::new();
    let mut count = 0;
    for cell in page.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('|')) {
        let mut follows_file = false;
        // The odd pieces between backticks are code, the rest may name tests.
        for (index, piece) in cell.split('`').enumerate() {
            if index % 2 == 1 {
                follows_file |= is_test(piece);
                continue;
            }
            let names = piece.split('*').skip(1).step_by(2).filter(|_| follows_file);
            for name in names.filter(|name| !name.contains(['…', '(', '{', '['])) {
                count += 1;
                if !exists(name) {
                    problems.push(format!(
                        "docs/spec-conformance.md names the test \"{name}\", which does not exist"
                    ));
                }
            }
        }
    }
    assert!(count > 50, "docs/spec-conformance.md names tests");
    none(&problems);
}
