//! Finding the script as Node will, to say so early if it is not there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// What Node adds to the name of a script that is not there as it was typed.
const EXTENSIONS: [&str; 3] = ["js", "json", "node"];

/// What people expect it to add.
const MODULE_EXTENSIONS: [&str; 3] = ["mjs", "cjs", "ts"];

/// The file or directory that Node will run. Follows Node's CommonJS loader, which resolves the main script:
/// the file itself, then with an extension; a directory is looked into by Node alone.
pub fn find(typed: &OsStr) -> Result<PathBuf, Failure> {
    let path = Path::new(typed);
    let mut candidates = vec![path.to_owned()];
    candidates.extend(EXTENSIONS.map(|extension| with_extension(path, extension)));
    if let Some(found) = candidates.into_iter().find(|candidate| candidate.exists()) {
        return Ok(found);
    }
    let failure = Failure::usage(format!("there is no script {}", path.display()));
    let near = MODULE_EXTENSIONS.map(|extension| with_extension(path, extension));
    Err(match near.iter().find(|candidate| candidate.exists()) {
        Some(near) => {
            failure.hint(format!("Node does not add this extension; did you mean {}?", near.display()))
        }
        None => {
            failure.hint("the script comes first, its arguments behind it: `selfprof run SCRIPT ARGS...`")
        }
    })
}

/// `a.b` becomes `a.b.js`.
fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(extension);
    name.into()
}
