//! The rules of the house that no compiler checks: which crate may use which, where `unsafe` may stand, and that what
//! is written about the code is so. A failure names the file and the rule.

use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with the crates of this workspace that it may use, floor by floor from the ground up. Arrows point to
/// lower floors alone: siblings do not know each other.
const FLOORS: &[&[(&str, &[&str])]] = &[
    &[("selfprof-trace", &[])],
    &[
        ("selfprof-session", &["selfprof-trace"]),
        ("selfprof-timing", &["selfprof-trace"]),
        ("selfprof-formats", &["selfprof-trace"]),
        ("selfprof-source-maps", &["selfprof-trace"]),
    ],
    &[("selfprof-v8", &["selfprof-trace", "selfprof-session"]), ("selfprof-webdriver", &[])],
    &[
        (
            "selfprof-node",
            &["selfprof-trace", "selfprof-session", "selfprof-timing", "selfprof-formats", "selfprof-v8"],
        ),
        ("selfprof", &["selfprof-trace", "selfprof-formats", "selfprof-source-maps", "selfprof-webdriver"]),
        (
            "selfprof-fuzz",
            &[
                "selfprof-trace",
                "selfprof-session",
                "selfprof-formats",
                "selfprof-source-maps",
                "selfprof-webdriver",
            ],
        ),
    ],
];

/// Beside the house: the project's own commands use no crate of it.
const BESIDE: &[&str] = &["xtask"];

/// What a crate leaves to the crates above it.
const ABSENT: &[(&str, &[&str], &str)] = &[
    ("selfprof-trace", &["serde", "serde_json", "flate2"], "trace knows no wire format"),
    (
        "selfprof-session",
        &["serde", "serde_json", "napi", "cc"],
        "session knows no wire format and no engine",
    ),
    ("selfprof-timing", &["serde", "serde_json", "napi", "cc"], "timing knows no wire format and no engine"),
    ("selfprof-formats", &["napi", "cc"], "formats knows no engine"),
    ("selfprof", &["napi", "cc"], "the CLI is pure Rust: V8 is in the addon"),
];

/// Crates that see clocks, files and threads as values and traits only.
const SANS_IO: &[&str] =
    &["crates/trace/src", "crates/session/src", "crates/timing/src", "crates/source-maps/src"];

/// The only crates in which `unsafe` may stand.
const UNSAFE: &[&str] = &["selfprof-v8", "selfprof-node"];

#[test]
fn arrows_point_down() {
    let mut problems = Vec::new();
    let mut below: BTreeSet<&str> = BTreeSet::new();
    for floor in FLOORS {
        for (name, uses) in *floor {
            for used in uses.iter().filter(|used| !below.contains(*used)) {
                problems.push(format!("the table lets {name} use {used}, which is on no lower floor"));
            }
        }
        below.extend(floor.iter().map(|(name, _)| name));
    }
    let metadata = metadata();
    let members: BTreeSet<&str> = members(&metadata).map(|package| package.name.as_str()).collect();
    for package in self::members(&metadata) {
        let name = package.name.as_str();
        let row = FLOORS.iter().copied().flatten().find(|(known, _)| *known == name);
        let allowed = match row {
            Some((_, uses)) => *uses,
            None if BESIDE.contains(&name) => &[],
            None => {
                problems.push(format!("{name} has no floor: give it a row in FLOORS"));
                continue;
            }
        };
        for used in package.dependencies.iter().map(|dependency| dependency.name.as_str()) {
            if members.contains(used) && used != name && !allowed.contains(&used) {
                problems.push(format!("{name} must not use {used}"));
            }
        }
    }
    none(&problems);
}

#[test]
fn what_a_crate_leaves_out_stays_out() {
    let metadata = metadata();
    let mut problems = Vec::new();
    for (name, absent, rule) in ABSENT {
        let Some(package) = members(&metadata).find(|package| package.name == *name) else { continue };
        // A test may well read JSON to check what the crate says.
        for dependency in
            package.dependencies.iter().filter(|d| d.kind != cargo_metadata::DependencyKind::Development)
        {
            if absent.contains(&dependency.name.as_str()) {
                problems.push(format!("{name} must not depend on {}: {rule}", dependency.name));
            }
        }
    }
    none(&problems);
}

#[test]
fn cores_do_no_io() {
    const OUTSIDE: &[&str] = &[
        "std::fs",
        "std::io",
        "std::net",
        "std::process",
        "std::thread",
        "std::env",
        "time::Instant",
        "SystemTime",
    ];
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| SANS_IO.iter().any(|folder| file.name.starts_with(folder))) {
        for (number, line) in code_lines(&file.text) {
            for outside in OUTSIDE.iter().filter(|outside| line.contains(**outside)) {
                problems
                    .push(format!("{}:{number}: {outside}: clocks and files come in as values", file.name));
            }
        }
    }
    none(&problems);
}

#[test]
fn unsafe_stands_in_two_crates_alone() {
    let metadata = metadata();
    let mut problems = Vec::new();
    for package in members(&metadata).filter(|package| !UNSAFE.contains(&package.name.as_str())) {
        for target in package.targets.iter().filter(|target| target.is_lib() || target.is_bin()) {
            let text = fs::read_to_string(&target.src_path).unwrap_or_default();
            if !text.contains("#![forbid(unsafe_code)]") {
                problems.push(format!("{} does not say #![forbid(unsafe_code)]", target.src_path));
            }
        }
    }
    // Tests are crates of their own, which the attribute above does not reach.
    for file in files().iter().filter(|file| file.name.ends_with(".rs")) {
        if file.name.starts_with("crates/v8/") || file.name.starts_with("crates/node/") {
            continue;
        }
        for (number, line) in code_lines(&file.text) {
            let mut words =
                line.split_whitespace().skip_while(|word| word.trim_start_matches(['(', '{']) != "unsafe");
            if words.next().is_some()
                && words.next().is_some_and(|next| ["{", "fn", "impl", "extern"].contains(&next))
            {
                problems.push(format!("{}:{number}: unsafe outside crates/v8 and crates/node", file.name));
            }
        }
    }
    none(&problems);
}

#[test]
fn each_dependency_says_why_it_is_there() {
    let metadata = metadata();
    let mut problems = Vec::new();
    for package in members(&metadata) {
        let text = fs::read_to_string(&package.manifest_path).unwrap_or_default();
        problems.extend(
            dependencies_without_reason(&text)
                .into_iter()
                .map(|line| format!("{}:{line}", package.manifest_path)),
        );
    }
    none(&problems);
}

#[test]
fn members_share_the_workspace_settings() {
    let metadata = metadata();
    let mut problems = Vec::new();
    for package in members(&metadata) {
        let text = fs::read_to_string(&package.manifest_path).unwrap_or_default();
        for setting in
            ["[lints]\nworkspace = true", "edition.workspace = true", "rust-version.workspace = true"]
        {
            if !text.contains(setting) {
                problems.push(format!("{} does not say {setting:?}", package.manifest_path));
            }
        }
    }
    none(&problems);
}

#[test]
fn the_architecture_page_names_each_crate_and_no_other() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default();
    let metadata = metadata();
    let mut problems = Vec::new();
    let mut folders = BTreeSet::new();
    for package in members(&metadata) {
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
            problems.push(format!("ARCHITECTURE.md names {folder}, which is not there"));
        }
    }
    none(&problems);
}

/// What `docs/security.md` says is attacked, is: each test file that it names is there, and has each name that follows.
#[test]
fn the_attacks_that_the_security_page_names_are_there() {
    let mut problems = Vec::new();
    let text = fs::read_to_string(root().join("docs/security.md")).unwrap_or_default();
    let mut attacks = 0;
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let mut source: Option<String> = None;
        // The odd pieces between backticks are code, the rest may name tests.
        for (index, piece) in line.split('`').enumerate() {
            if index % 2 == 1 {
                if piece.ends_with(".test.mjs") {
                    source = fs::read_to_string(root().join("npm/test").join(piece)).ok();
                    if source.is_none() {
                        problems.push(format!("docs/security.md names npm/test/{piece}, which is not there"));
                    }
                }
                continue;
            }
            let Some(source) = &source else { continue };
            for name in piece.split('*').skip(1).step_by(2) {
                attacks += 1;
                // In the source, a quotation mark may be escaped.
                if !source.replace("\\'", "'").contains(name) {
                    problems.push(format!(
                        "docs/security.md names the test \"{name}\", which is not where it says"
                    ));
                }
            }
        }
    }
    assert!(attacks > 20, "docs/security.md names attacks");
    none(&problems);
}

#[test]
fn files_are_named_after_what_they_hold() {
    const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc"];
    // Files of the last one stand in for modules of Node, and are named after them.
    const OTHERS_NAMES: &[&str] = &["fixtures/", "npm/lib/page/dom/node/"];
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| !OTHERS_NAMES.iter().any(|folder| file.name.starts_with(folder)))
    {
        let parts = file.name.split('/').map(|part| part.split('.').next().unwrap_or(part));
        for part in parts.filter(|part| EMPTY_NAMES.contains(part)) {
            problems.push(format!("{}: `{part}` does not say what is in it", file.name));
        }
    }
    none(&problems);
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
    for file in files().iter().filter(|file| file.name != "xtask/tests/tidy.rs") {
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

/// The dependency lines of a manifest that neither carry a comment nor stand under one.
fn dependencies_without_reason(manifest: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut within = false;
    let mut previous_explains = false;
    let mut depth = 0_usize;
    for (number, line) in (1..).zip(manifest.lines().map(str::trim)) {
        let explains = line.contains('#');
        let inner = depth > 0;
        if !line.starts_with('#') {
            depth =
                (depth + line.matches(['[', '{']).count()).saturating_sub(line.matches([']', '}']).count());
        }
        let table = line.strip_prefix('[').filter(|_| !inner).and_then(|rest| rest.split(']').next());
        if let Some(table) = table {
            within = table.ends_with("dependencies");
            // [dependencies.NAME] is a dependency itself, and its lines are not.
            if table.contains("dependencies.") && !explains && !previous_explains {
                missing.push(format!("{number}: {line} does not say why it is there"));
            }
        } else if within && !inner && !line.is_empty() && !explains && !previous_explains {
            missing.push(format!("{number}: `{line}` does not say why it is there"));
        }
        previous_explains = line.starts_with('#');
    }
    missing
}

#[test]
fn reasons_are_found_beside_and_above() {
    fn check(manifest: &str, expected: &[usize]) {
        let found: Vec<usize> = dependencies_without_reason(manifest)
            .iter()
            .filter_map(|line| line.split(':').next()?.parse().ok())
            .collect();
        assert_eq!(found, expected, "{manifest}");
    }
    check("[package]\nname = \"a\"\n", &[]);
    check("[dependencies]\n# Because.\na = \"1\"\nb = \"1\" # because\nc = \"1\"\n", &[5]);
    check(
        "[dev-dependencies]\n# Because.\na = { version = \"1\", features = [\n  \"x\",\n] }\nb = \"1\"\n",
        &[6],
    );
    check("[target.'cfg(unix)'.dependencies]\na = \"1\"\n\n[features]\nx = []\n", &[2]);
    check("[dependencies.a]\nversion = \"1\"\n# Because.\n[dependencies.b]\nversion = \"1\"\n", &[1]);
}

struct File {
    /// Relative to the root, with slashes.
    name: String,
    text: String,
}

/// The text files of the checkout, without what is built or fetched.
fn files() -> Vec<File> {
    const SKIPPED: &[&str] = &[".git", "target", "node_modules", "native", "LICENSE-APACHE", "LICENSE-MIT"];
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if SKIPPED.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                found.push(File { name, text });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 20, "the checkout was not found at {}", root().display());
    found
}

/// The numbered lines of a Rust file without their comments.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).map(|(number, line)| (number, line.split("//").next().unwrap_or(line)))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

fn metadata() -> Metadata {
    match MetadataCommand::new().current_dir(root()).no_deps().exec() {
        Ok(metadata) => metadata,
        Err(error) => panic!("cargo metadata: {error}"),
    }
}

fn members(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id))
}

#[track_caller]
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "{} broken rules:\n  {}\n", problems.len(), problems.join("\n  "));
}
