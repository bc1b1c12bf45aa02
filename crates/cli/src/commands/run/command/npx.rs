//! `npx NAME`, for a program that is installed.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::Failure;

use super::package_json::PackageJson;
use super::search_path::SearchPath;

/// Options of npx that do not matter if the program is installed.
const OPTIONS: [&str; 7] = ["-y", "--yes", "--no", "--no-install", "-q", "--quiet", "--"];

/// The program that npx starts.
pub struct NpxProgram<'a> {
    pub name: OsString,
    pub path: PathBuf,
    pub arguments: &'a [OsString],
}

/// Finds the program that `npx` with these words starts.
pub fn find<'a>(words: &'a [OsString], search: &SearchPath) -> Result<NpxProgram<'a>, Failure> {
    let is_ignored = |word: &&OsString| OPTIONS.iter().any(|option| word == option);
    let words = &words[words.iter().take_while(is_ignored).count()..];
    let Some((name, arguments)) = words.split_first() else {
        return Err(Failure::usage("`npx` needs the name of a program")
            .hint("for example, `selfprof run npx eslint .`"));
    };
    let shown = name.display();
    if name.to_string_lossy().starts_with('-') {
        return Err(Failure::usage(format!(
            "cannot profile `npx {shown}`: selfprof does not know this option"
        ))
        .hint("name the program without npx, e.g. `selfprof run eslint .`"));
    }
    let local = |name: OsString| Some((search.local_program(&name)?, name));
    let of_package = || local(PackageJson::installed(name.to_str()?, &search.directory)?.program()?.into());
    match local(name.clone()).or_else(of_package) {
        Some((path, name)) => Ok(NpxProgram { name, path, arguments }),
        None => Err(Failure::usage(format!(
            "no program `{shown}` in node_modules/.bin of this directory or its parents"
        ))
        .hint(format!("`npm install {shown}` may install it; selfprof does not download programs"))),
    }
}
