//! The files and the crates of the checkout.

use cargo_metadata::{MetadataCommand, Package};
use std::fs;
use std::path::{Path, PathBuf};

/// A text file.
pub struct File {
    /// Relative to the root, with slashes.
    pub name: String,
    pub text: String,
}

/// The text files of the checkout, except those that are built or fetched.
pub fn files() -> Vec<File> {
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
pub fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).map(|(number, line)| (number, line.split("//").next().unwrap_or(line)))
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// The members of both workspaces: the root's and the collector's.
pub fn members() -> Vec<Package> {
    let members_of = |folder| match MetadataCommand::new().current_dir(folder).no_deps().exec() {
        Ok(metadata) => metadata.packages,
        Err(error) => panic!("cargo metadata: {error}"),
    };
    [root(), root().join("collector")].into_iter().flat_map(members_of).collect()
}
