//! Writing the trace of a run.

use std::io;
use std::path::{Path, PathBuf};

use selfprof_formats::Thread;
use selfprof_formats::w3c::{self, WriteOptions};

use crate::failure::Failure;

use super::atomic::{self, directory_of, is_replaceable, temporary_beside};

/// The path of the trace that a run writes.
#[derive(Debug)]
pub struct TracePath {
    path: PathBuf,
}

impl TracePath {
    /// The path given with `-o`, or by default a file in the working directory named after the script or program.
    ///
    /// Fails if the file cannot be written: it is better to know before the program has run for an hour.
    pub fn new(given: Option<&Path>, script: &Path) -> Result<Self, Failure> {
        let path = given.map_or_else(|| default_name(script), Path::to_owned);
        if path.is_dir() {
            return Err(Failure::usage(format!("{} is a directory", path.display()))
                .hint("`-o` takes the path of a file, e.g. `-o trace.json`"));
        }
        let directory = directory_of(&path);
        if !directory.is_dir() {
            return Err(Failure::usage(format!("no such directory: {}", directory.display()))
                .hint("`-o FILE` sets the path of the trace"));
        }
        if is_replaceable(&path) {
            temporary_beside(&path).map_err(|error| {
                Failure::job(format!("cannot write to {}", directory.display()))
                    .because(&error)
                    .hint("`-o FILE` writes the trace to another path")
            })?;
        }
        Ok(Self { path })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What to add to the message that a file was written, if another one was there before. To be called before it is
/// written.
pub fn replacing(path: &Path) -> &'static str {
    if path.is_file() { ", replacing an earlier file" } else { "" }
}

/// Writes the trace of all threads atomically, gzipped if the name ends in `.gz`.
pub fn write(threads: &[Thread], path: &Path) -> io::Result<()> {
    let options = WriteOptions { gzip: path.extension().is_some_and(|extension| extension == "gz") };
    atomic::write(path, |file| w3c::write_threads(threads, file, options))
}

/// `app.selfprof.json` for `src/app.mjs`. If the script is a directory, its name is used.
fn default_name(script: &Path) -> PathBuf {
    let named = script.file_stem().map(PathBuf::from);
    let stem = named.or_else(|| script.canonicalize().ok()?.file_name().map(PathBuf::from));
    let mut name = stem.unwrap_or_else(|| "trace".into()).into_os_string();
    name.push(".selfprof.json");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_named_after_the_script() {
        #[track_caller]
        fn check(script: &str, expected: &str) {
            assert_eq!(default_name(Path::new(script)), Path::new(expected));
        }
        check("app.mjs", "app.selfprof.json");
        check("src/app.test.js", "app.test.selfprof.json");
        check("../tool", "tool.selfprof.json");
        check("/", "trace.selfprof.json");
    }
}
