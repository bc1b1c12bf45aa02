//! Which crate may use what, and what each manifest must say.

use crate::checkout::{code_lines, files, members};
use crate::none;
use cargo_metadata::Package;
use std::collections::BTreeSet;
use std::fs;

/// Each crate with the crates of this workspace that it may use, floor by floor from the bottom. A crate uses
/// crates of lower floors only, and none of its own floor.
const FLOORS: &[&[(&str, &[&str])]] = &[
    &[("selfprof-trace", &[]), ("selfprof-nesting", &[])],
    &[
        ("selfprof-session", &["selfprof-trace"]),
        ("selfprof-timing", &["selfprof-trace"]),
        ("selfprof-formats", &["selfprof-trace"]),
        ("selfprof-source-maps", &["selfprof-trace", "selfprof-nesting"]),
        ("selfprof-significance", &[]),
        ("selfprof-instrument", &["selfprof-nesting"]),
        ("selfprof-http", &[]),
    ],
    &[
        ("selfprof-v8", &["selfprof-trace", "selfprof-session"]),
        ("selfprof-webdriver", &[]),
        ("selfprof-exporter", &["selfprof-trace", "selfprof-formats", "selfprof-http"]),
        ("selfprof-site", &["selfprof-source-maps", "selfprof-instrument"]),
        (
            "selfprof-store",
            &["selfprof-trace", "selfprof-formats", "selfprof-source-maps", "selfprof-significance"],
        ),
    ],
    &[
        (
            "selfprof-node",
            &["selfprof-trace", "selfprof-session", "selfprof-timing", "selfprof-formats", "selfprof-v8"],
        ),
        (
            "selfprof",
            &[
                "selfprof-trace",
                "selfprof-formats",
                "selfprof-source-maps",
                "selfprof-http",
                "selfprof-webdriver",
                "selfprof-exporter",
                "selfprof-site",
            ],
        ),
        (
            "selfprof-collector",
            &["selfprof-trace", "selfprof-formats", "selfprof-significance", "selfprof-store"],
        ),
        (
            "selfprof-fuzz",
            &[
                "selfprof-trace",
                "selfprof-session",
                "selfprof-formats",
                "selfprof-source-maps",
                "selfprof-instrument",
                "selfprof-webdriver",
            ],
        ),
    ],
];

/// Crates that use no crate of the workspace, and that none uses: the project's own commands.
const APART: &[&str] = &["xtask"];

/// What a crate must not depend on, and why.
const FORBIDDEN: &[(&str, &[&str], &str)] = &[
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

/// Crates without I/O: clocks, files and threads come in as values and traits.
const SANS_IO: &[&str] = &[
    "crates/trace/src",
    "crates/session/src",
    "crates/timing/src",
    "crates/source-maps/src",
    "crates/instrument/src",
    "crates/nesting/src",
];

/// The only crates that may contain `unsafe`.
const UNSAFE: &[&str] = &["selfprof-v8", "selfprof-node"];

#[test]
fn crates_depend_on_lower_floors() {
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
    let members = members();
    let names: BTreeSet<&str> = members.iter().map(|package| package.name.as_str()).collect();
    for package in &members {
        let name = package.name.as_str();
        let row = FLOORS.iter().copied().flatten().find(|(known, _)| *known == name);
        let allowed = match row {
            Some((_, uses)) => *uses,
            None if APART.contains(&name) => &[],
            None => {
                problems.push(format!("{name} has no floor: give it a row in FLOORS"));
                continue;
            }
        };
        for used in package.dependencies.iter().map(|dependency| dependency.name.as_str()) {
            if names.contains(used) && used != name && !allowed.contains(&used) {
                problems.push(format!("{name} must not use {used}"));
            }
        }
    }
    none(&problems);
}

/// crates.io has only what is published.
#[test]
fn published_crates_use_published_ones() {
    let members = members();
    let is_published =
        |package: &&Package| package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
    let published: BTreeSet<&str> =
        members.iter().filter(is_published).map(|package| package.name.as_str()).collect();
    let mut problems = Vec::new();
    for package in members.iter().filter(is_published) {
        for used in package.dependencies.iter().filter(|used| used.path.is_some()) {
            if !published.contains(used.name.as_str()) {
                problems
                    .push(format!("{} is published, and {}, which it uses, is not", package.name, used.name));
            }
        }
    }
    none(&problems);
}

#[test]
fn forbidden_dependencies_are_absent() {
    let members = members();
    let mut problems = Vec::new();
    for (name, absent, rule) in FORBIDDEN {
        let Some(package) = members.iter().find(|package| package.name == *name) else { continue };
        // A test may read JSON to check the output of the crate.
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
    // It parses in a thread with a stack that fits, and waits for it: nothing else can make a stack longer.
    const ALLOWED: &[(&str, &str)] = &[("crates/source-maps/src/tree/parsing.rs", "std::thread")];
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| SANS_IO.iter().any(|folder| file.name.starts_with(folder))) {
        for (number, line) in code_lines(&file.text) {
            let is_outside =
                |outside: &&&str| line.contains(**outside) && !ALLOWED.contains(&(&file.name, outside));
            for outside in OUTSIDE.iter().filter(is_outside) {
                problems
                    .push(format!("{}:{number}: {outside}: clocks and files come in as values", file.name));
            }
        }
    }
    none(&problems);
}

#[test]
fn unsafe_is_in_two_crates_only() {
    let members = members();
    let mut problems = Vec::new();
    for package in members.iter().filter(|package| !UNSAFE.contains(&package.name.as_str())) {
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
fn each_dependency_has_a_reason() {
    let members = members();
    let mut problems = Vec::new();
    for package in &members {
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
    let members = members();
    let mut problems = Vec::new();
    for package in &members {
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

/// The dependency lines of a manifest without a comment on the same line or the line above.
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
            // [dependencies.NAME] is a dependency itself; its lines are not.
            if table.contains("dependencies.") && !explains && !previous_explains {
                missing.push(format!("{number}: {line} has no comment with its reason"));
            }
        } else if within && !inner && !line.is_empty() && !explains && !previous_explains {
            missing.push(format!("{number}: `{line}` has no comment with its reason"));
        }
        previous_explains = line.starts_with('#');
    }
    missing
}

#[test]
fn reasons_are_found_on_the_line_and_above() {
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
