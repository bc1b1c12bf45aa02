//! `npx NAME`, for a program that is installed.

use std::ffi::{OsStr, OsString};

use crate::failure::Failure;

use super::NodeCommand;
use super::package_json::PackageJson;
use super::search_path::SearchPath;

/// Options of npx that do not matter if the program is installed.
const OPTIONS: [&str; 7] = ["-y", "--yes", "--no", "--no-install", "-q", "--quiet", "--"];

/// The program that `npx` with these words would start.
pub fn resolve(words: &[OsString], search: &SearchPath) -> Result<NodeCommand, Failure> {
    let is_ignored = |word: &&OsString| OPTIONS.iter().any(|option| word == option);
    let words = &words[words.iter().take_while(is_ignored).count()..];
    let Some((name, rest)) = words.split_first() else {
        return Err(Failure::usage("`npx` needs the name of a program")
            .hint("for example, `selfprof run npx eslint .`"));
    };
    if name.to_string_lossy().starts_with('-') {
        return Err(Failure::usage(format!(
            "cannot profile `npx {}`: selfprof does not know this option",
            name.display()
        ))
        .hint("name the program without npx, e.g. `selfprof run eslint .`"));
    }
    let in_package = || PackageJson::installed(name.to_str()?, &search.directory)?.program();
    let program = search.local_program(name).map(|path| (name.clone(), path)).or_else(|| {
        in_package().and_then(|program| {
            let path = search.local_program(OsStr::new(&program))?;
            Some((program.into(), path))
        })
    });
    match program {
        Some((name, path)) => NodeCommand::program(&name, &path, rest, search),
        None => Err(Failure::usage(format!(
            "no program `{}` in node_modules/.bin of this directory or its parents",
            name.display()
        ))
        .hint(format!(
            "`npm install {}` may install it; selfprof does not download programs",
            name.display()
        ))),
    }
}
