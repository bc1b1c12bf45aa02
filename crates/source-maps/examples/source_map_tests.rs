//! Runs the suite of tests of TC39 (tc39/source-map-tests) in a folder: `cargo xtask source-map-tests --dir DIR`.
//!
//! A test of a valid map passes if the map is read without problems, and every position is found. One of an invalid map
//! passes if the map is refused. Those that do not pass are listed in `tests/source-map-tests.txt`, with the reason.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use selfprof_source_maps::Map;
use serde_json::Value;

/// The tests of the standard, and those of a proposal.
const FILES: [&str; 2] = ["source-map-spec-tests.json", "range-mappings-proposal-tests.json"];

const EXPECTED: &str = include_str!("../tests/source-map-tests.txt");

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: source_map_tests DIR")?);
    let expected: BTreeMap<&str, &str> = EXPECTED
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(": ").ok_or("a line of the expectations has no reason"))
        .collect::<Result<_, _>>()?;
    let mut failed: BTreeMap<String, String> = BTreeMap::new();
    for file in FILES {
        let suite: Value = serde_json::from_slice(&fs::read(folder.join(file))?)?;
        let tests = suite["tests"].as_array().ok_or("the suite has no tests")?;
        let resources = folder.join("resources").join(suite["resourceBasePath"].as_str().unwrap_or_default());
        let (mut passed, mut valid, mut transitive) = (0, (0, 0), (0, 0));
        for test in tests {
            let is_valid = test["sourceMapIsValid"] == true;
            let is_transitive = actions(test).any(|action| action["actionType"] == "checkMappingTransitive");
            let result = run(test, &resources);
            let is_passed = result.is_ok();
            passed += usize::from(is_passed);
            valid = (valid.0 + usize::from(is_valid && is_passed), valid.1 + usize::from(is_valid));
            transitive = (
                transitive.0 + usize::from(is_transitive && is_passed),
                transitive.1 + usize::from(is_transitive),
            );
            if let Err(reason) = result {
                failed.insert(test["name"].as_str().unwrap_or_default().to_owned(), reason);
            }
        }
        println!(
            "{file}: {passed} of {} tests pass; of valid maps {} of {}, of transitive ones {} of {}",
            tests.len(),
            valid.0,
            valid.1,
            transitive.0,
            transitive.1
        );
    }
    let mut is_expected = true;
    for (name, reason) in failed.iter().filter(|(name, _)| !expected.contains_key(name.as_str())) {
        println!("fails, which is not expected: {name}: {reason}");
        is_expected = false;
    }
    for name in expected.keys().filter(|name| !failed.contains_key(**name)) {
        println!("passes, which is not expected, or is not in the suite: {name}");
        is_expected = false;
    }
    Ok(if is_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn actions(test: &Value) -> impl Iterator<Item = &Value> {
    test["testActions"].as_array().into_iter().flatten()
}

fn read(resources: &Path, name: &Value) -> Result<Map, String> {
    let path = resources.join(name.as_str().unwrap_or_default());
    let json = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Map::read(&json).map_err(|error| format!("refused: {error}"))
}

/// Fails with what is wrong.
fn run(test: &Value, resources: &Path) -> Result<(), String> {
    let map = read(resources, &test["sourceMapFile"]);
    if test["sourceMapIsValid"] != true {
        return match map {
            Err(_) => Ok(()),
            Ok(map) => Err(match map.problems() {
                [] => "read".to_owned(),
                problems => format!("read without {}", problems[0]),
            }),
        };
    }
    let map = map?;
    if let Some(problem) = map.problems().first() {
        return Err(format!("read without {problem}"));
    }
    actions(test).try_for_each(|action| match action["actionType"].as_str() {
        Some("checkMapping") => check(action, &[&map]),
        Some("checkMappingTransitive") => {
            let further = action["intermediateMaps"].as_array().into_iter().flatten();
            let further = further.map(|name| read(resources, name)).collect::<Result<Vec<_>, _>>()?;
            check(action, &[&map].into_iter().chain(&further).collect::<Vec<_>>())
        }
        Some("checkIgnoreList") => {
            let present = action["present"].as_array().into_iter().flatten().filter_map(Value::as_str);
            if present.eq(map.ignored_sources()) { Ok(()) } else { Err("another ignore list".to_owned()) }
        }
        other => Err(format!("unknown action {other:?}")),
    })
}

/// Follows a position through maps.
fn check(action: &Value, maps: &[&Map]) -> Result<(), String> {
    let number = |name: &str| action[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let place = (number("generatedLine"), number("generatedColumn"));
    let (Some(mut line), Some(mut column)) = place else { return Err("no position".to_owned()) };
    let mut found = None;
    for map in maps {
        let original = map.original_position(line, column);
        if original.is_none() && action["originalLine"].is_null() {
            return Ok(());
        }
        let original = original.ok_or_else(|| format!("{line}:{column} has no original"))?;
        (line, column) = (original.line, original.column);
        found = Some((original.source, original.name));
    }
    let expected = (number("originalLine"), number("originalColumn"));
    let texts = (action["originalSource"].as_str(), action["mappedName"].as_str());
    if expected != (Some(line), Some(column)) || found != Some(texts) {
        return Err(format!("found {found:?}:{line}:{column} instead of {texts:?}:{expected:?}"));
    }
    Ok(())
}
