//! `npx NAME`, for a program that is installed.

use std::ffi::OsString;
use std::path::PathBuf;

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

/// The installed program that `npx` with these words starts; `None` if it is not installed, or if npx has options that
/// matter.
pub fn find<'a>(words: &'a [OsString], search: &SearchPath) -> Option<NpxProgram<'a>> {
    let is_ignored = |word: &&OsString| OPTIONS.iter().any(|option| word == option);
    let words = &words[words.iter().take_while(is_ignored).count()..];
    let (name, arguments) = words.split_first()?;
    if name.to_string_lossy().starts_with('-') {
        return None;
    }
    let local = |name: OsString| Some((search.local_program(&name)?, name));
    let of_package = || local(PackageJson::installed(name.to_str()?, &search.directory)?.program()?.into());
    let (path, name) = local(name.clone()).or_else(of_package)?;
    Some(NpxProgram { name, path, arguments })
}
