//! Finding the script in the same way as Node.js, to report a missing one early.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The extensions that Node.js adds to a script's name if there is no such file.
const EXTENSIONS: [&str; 3] = ["js", "json", "node"];

/// Extensions that people expect Node.js to add.
const MODULE_EXTENSIONS: [&str; 3] = ["mjs", "cjs", "ts"];

/// The file or directory that Node.js will run. As in its CommonJS loader, which resolves the main script, that is the path
/// itself, or else the path with an extension. What a directory contains is left to Node.js.
pub fn find(typed: &OsStr) -> Result<PathBuf, Failure> {
    let path = Path::new(typed);
    let mut candidates = vec![path.to_owned()];
    candidates.extend(EXTENSIONS.map(|extension| with_extension(path, extension)));
    if let Some(found) = candidates.into_iter().find(|candidate| candidate.exists()) {
        return Ok(found);
    }
    let failure = Failure::usage(format!("no such script: {}", path.display()));
    let near = MODULE_EXTENSIONS.map(|extension| with_extension(path, extension));
    Err(match near.iter().find(|candidate| candidate.exists()) {
        Some(near) => {
            failure.hint(format!("Node.js does not add this extension; did you mean {}?", near.display()))
        }
        None => failure.hint("the usage is `selfprof run [OPTIONS] SCRIPT [ARGS]...`"),
    })
}

/// `a.b` becomes `a.b.js`.
fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(extension);
    name.into()
}
