//! Firefox, if it is installed. Nobody has to have it: npm has no build of it.

use std::env;
use std::path::PathBuf;

/// The first of its names on PATH, or what `SELFPROF_FIREFOX` names.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os("SELFPROF_FIREFOX").filter(|value| !value.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let names = ["firefox", "firefox-esr"];
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}
