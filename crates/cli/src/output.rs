//! Where the traces go.

use std::io;
use std::path::{Path, PathBuf};

use selfprof_formats::w3c::{self, WriteOptions};
use selfprof_trace::Trace;

use crate::failure::Failure;
use crate::whole_file::{self, directory_of, is_replaceable, temporary_beside};

/// The files that a run writes.
#[derive(Debug)]
pub struct Output {
    /// The main thread's.
    main: PathBuf,
}

impl Output {
    /// The file that was asked for, or one in the working directory that is named after the script.
    ///
    /// Fails when it could not be written, which is better known now than when the script has run for an hour.
    pub fn new(asked: Option<&Path>, script: &Path) -> Result<Self, Failure> {
        let main = asked.map_or_else(|| default_name(script), Path::to_owned);
        if main.is_dir() {
            return Err(Failure::usage(format!("{} is a directory", main.display()))
                .hint("`-o` names the trace's own file, e.g. `-o trace.json`"));
        }
        let directory = directory_of(&main);
        if !directory.is_dir() {
            return Err(Failure::usage(format!("there is no directory {}", directory.display()))
                .hint("`-o FILE` says where the trace goes"));
        }
        if is_replaceable(&main) {
            temporary_beside(&main).map_err(|error| {
                Failure::job(format!("cannot write to {}", directory.display()))
                    .because(&error)
                    .hint("`-o FILE` writes the trace elsewhere")
            })?;
        }
        Ok(Self { main })
    }

    /// The main thread's file.
    pub fn main(&self) -> &Path {
        &self.main
    }

    /// A worker's file, `trace.worker-3.json.gz` beside `trace.json.gz`.
    pub fn worker(&self, id: u64) -> PathBuf {
        let name = self.main.file_name().unwrap_or_default().to_string_lossy();
        let (name, gz) = name.strip_suffix(".gz").map_or((&*name, ""), |name| (name, ".gz"));
        let name = name.strip_suffix(".json").unwrap_or(name);
        self.main.with_file_name(format!("{name}.worker-{id}.json{gz}"))
    }
}

/// Writes a trace so that the file is whole, or is as it was before. Compresses it when the name ends in `.gz`.
pub fn write(trace: &Trace, path: &Path) -> io::Result<()> {
    let options = WriteOptions { gzip: path.extension().is_some_and(|extension| extension == "gz") };
    whole_file::write(path, |file| w3c::write(trace, file, options))
}

/// `app.selfprof.json` for `src/app.mjs`. A directory as a script gives its own name.
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
    fn workers_have_files_beside_the_main_threads() {
        #[track_caller]
        fn check(main: &str, expected: &str) {
            assert_eq!(Output { main: main.into() }.worker(3), Path::new(expected));
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
