//! Where programs are searched for.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The working directory and the environment variables that decide what a command means.
#[derive(Debug, Default)]
pub struct SearchPath {
    /// The working directory.
    pub directory: PathBuf,
    /// The variable `PATH`.
    pub path: OsString,
    /// The variable `NODE_PATH`.
    pub node_path: OsString,
}

impl SearchPath {
    /// That of this process.
    pub fn of_process() -> Self {
        Self {
            directory: env::current_dir().unwrap_or_default(),
            path: env::var_os("PATH").unwrap_or_default(),
            node_path: env::var_os("NODE_PATH").unwrap_or_default(),
        }
    }

    /// A program in `node_modules/.bin` of the working directory or its nearest parent that has one, as for npm
    /// scripts.
    pub fn local_program(&self, name: &OsStr) -> Option<PathBuf> {
        let mut candidates =
            self.directory.ancestors().map(|folder| folder.join("node_modules/.bin").join(name));
        candidates.find(|candidate| candidate.is_file())
    }

    /// A program on `PATH`.
    pub fn program_on_path(&self, name: &OsStr) -> Option<PathBuf> {
        if name.is_empty() {
            return None;
        }
        let folders = env::split_paths(&self.path).map(|folder| self.directory.join(folder));
        folders.map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
    }

    /// `NODE_PATH` with more folders before it.
    pub fn with_node_path(&self, folders: &str) -> OsString {
        let mut value = OsString::from(folders);
        if !self.node_path.is_empty() {
            value.push(":");
            value.push(&self.node_path);
        }
        value
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
