//! Checks the properties on the committed inputs, without a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};

use selfprof_fuzz::TARGETS;

/// The files in a target's folder, if it exists.
fn inputs(kind: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    files.sort();
    files
}

#[test]
fn properties_hold_for_the_committed_inputs() {
    for (target, check) in TARGETS {
        let corpus = inputs("corpus", target);
        assert!(!corpus.is_empty(), "fuzz/corpus/{target} is empty");
        for file in corpus.into_iter().chain(inputs("findings", target)) {
            // Identifies the input if it fails or ends the process.
            println!("{target}: {}", file.display());
            check(&fs::read(&file).unwrap());
        }
    }
}

#[test]
fn every_target_has_a_program_and_a_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let found = |folder: &str| {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        let mut stems: Vec<String> = entries
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .filter(|stem| stem != "README")
            .collect();
        stems.sort();
        stems
    };
    assert_eq!(found("targets"), names);
    assert_eq!(found("corpus"), names);
    assert!(found("findings").iter().all(|name| names.contains(&&**name)));
    assert!(found("dictionaries").iter().all(|name| names.contains(&&**name)));
}
