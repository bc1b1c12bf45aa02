//! Writing the traces of a run.

use std::io;
use std::path::{Path, PathBuf};

use selfprof_formats::Thread;
use selfprof_formats::w3c::{self, WriteOptions};

use crate::failure::Failure;

use super::atomic::{self, directory_of, is_replaceable, temporary_beside};

/// The paths of the traces that a run writes.
#[derive(Debug)]
pub struct TracePaths {
    /// The main thread's trace.
    main: PathBuf,
}

impl TracePaths {
    /// The path given with `-o`, or by default a file in the working directory named after the script or program.
    ///
    /// Fails if the file cannot be written: it is better to know before the program has run for an hour.
    pub fn new(given: Option<&Path>, script: &Path) -> Result<Self, Failure> {
        let main = given.map_or_else(|| default_name(script), Path::to_owned);
        if main.is_dir() {
            return Err(Failure::usage(format!("{} is a directory", main.display()))
                .hint("`-o` takes the path of a file, e.g. `-o trace.json`"));
        }
        let directory = directory_of(&main);
        if !directory.is_dir() {
            return Err(Failure::usage(format!("no such directory: {}", directory.display()))
                .hint("`-o FILE` sets the path of the trace"));
        }
        if is_replaceable(&main) {
            temporary_beside(&main).map_err(|error| {
                Failure::job(format!("cannot write to {}", directory.display()))
                    .because(&error)
                    .hint("`-o FILE` writes the trace to another path")
            })?;
        }
        Ok(Self { main })
    }

    /// The path of the main thread's trace.
    pub fn main(&self) -> &Path {
        &self.main
    }

    /// The path of a worker's trace, e.g. `trace.worker-3.json.gz` beside `trace.json.gz`.
    pub fn worker(&self, id: u64) -> PathBuf {
        let name = self.main.file_name().unwrap_or_default().to_string_lossy();
        let (name, gz) = name.strip_suffix(".gz").map_or((&*name, ""), |name| (name, ".gz"));
        let name = name.strip_suffix(".json").unwrap_or(name);
        self.main.with_file_name(format!("{name}.worker-{id}.json{gz}"))
    }
}

/// What to add to the message that a file was written, if another one was there before. To be called before it is written.
pub fn replacing(path: &Path) -> &'static str {
    if path.is_file() { ", replacing an earlier file" } else { "" }
}

/// Writes a trace atomically, gzipped if the name ends in `.gz`.
pub fn write(thread: &Thread, path: &Path) -> io::Result<()> {
    let options = WriteOptions { gzip: path.extension().is_some_and(|extension| extension == "gz") };
    atomic::write(path, |file| w3c::write_thread(thread, file, options))
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
    fn traces_of_workers_are_beside_the_main_threads() {
        #[track_caller]
        fn check(main: &str, expected: &str) {
            assert_eq!(TracePaths { main: main.into() }.worker(3), Path::new(expected));
        }
        check("out.json", "out.worker-3.json");
        check("dir/app.selfprof.json", "dir/app.selfprof.worker-3.json");
        check("out.json.gz", "out.worker-3.json.gz");
        check("out", "out.worker-3.json");
        check("out.gz", "out.worker-3.json.gz");
    }

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
