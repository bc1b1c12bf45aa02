//! Finding the script in the same way as Node.js, to report a missing one early.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

use super::search_path::SearchPath;

/// The extensions that Node.js adds to a script's name if there is no such file.
const EXTENSIONS: [&str; 3] = ["js", "json", "node"];

/// Extensions that people expect Node.js to add.
const MODULE_EXTENSIONS: [&str; 3] = ["mjs", "cjs", "ts"];

/// Extensions of files that are scripts, whatever they contain.
const SCRIPT_EXTENSIONS: [&str; 11] =
    ["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "json", "node", "wasm"];

/// The file or directory that Node.js will run. As in its CommonJS loader, which resolves the main script, that is the
/// path itself, or else the path with an extension. What a directory contains is left to Node.js.
pub fn find(typed: &OsStr, search: &SearchPath) -> Option<PathBuf> {
    let path = Path::new(typed);
    let extended = EXTENSIONS.map(|extension| with_extension(path, extension));
    let mut candidates = std::iter::once(path.to_owned()).chain(extended);
    candidates.find(|candidate| !typed.is_empty() && search.directory.join(candidate).exists())
}

/// As [`find`], if the script is a file that is named in full or without its extension `.js`.
pub fn find_file(typed: &OsStr, search: &SearchPath) -> Option<PathBuf> {
    let is_file = |path: &Path| {
        let path = search.directory.join(path);
        path.exists() && !path.is_dir()
    };
    find(typed, search).filter(|found| {
        is_file(found) && (found.as_os_str() == typed || *found == with_extension(Path::new(typed), "js"))
    })
}

/// Whether the file's name says that it is a script.
pub fn is_named_as_one(path: &Path) -> bool {
    path.extension().is_some_and(|extension| SCRIPT_EXTENSIONS.iter().any(|&known| extension == known))
}

/// There is neither a script nor a program.
pub fn missing(typed: &OsStr, search: &SearchPath) -> Failure {
    let path = Path::new(typed);
    let is_program_name =
        path.extension().is_none() && !typed.is_empty() && !typed.as_bytes().contains(&b'/');
    let kind = if is_program_name { "script or program" } else { "script" };
    let failure = Failure::usage(format!("no such {kind}: {}", path.display()));
    let near = MODULE_EXTENSIONS.map(|extension| with_extension(path, extension));
    match near.iter().find(|candidate| search.directory.join(candidate).exists()) {
        Some(near) => {
            failure.hint(format!("Node.js does not add this extension; did you mean {}?", near.display()))
        }
        None if is_program_name => failure.hint(
            "programs are searched for in node_modules/.bin of this directory and its parents, and on PATH",
        ),
        None => failure.hint("the usage is `selfprof run [OPTIONS] COMMAND [ARGS]...`"),
    }
}

/// `a.b` becomes `a.b.js`.
fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(extension);
    name.into()
}
