//! Folders that earlier exporters have left behind.

use std::fs;
use std::path::Path;

use crate::folder::Folder;
use crate::folder::lock::Lock;
use crate::folder::names::EXPORTER_LOCK;
use crate::settings::{FILE, Settings};

/// The most folders that are taken over.
const MAX_FOLDERS: usize = 64;

/// A folder that nobody uses.
pub struct LeftBehind {
    /// The folder.
    pub folder: Folder,
    /// Its own settings: another release may have written it.
    pub settings: Settings,
    /// Its lock.
    pub lock: Lock,
}

/// The folders beside this one that nobody uses: no exporter and no process.
pub fn left_behind(own: &Path, settings: &Settings) -> Vec<LeftBehind> {
    let Some(parent) = own.parent() else { return Vec::new() };
    let mut paths: Vec<_> =
        fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.retain(|path| path != own && path.join(FILE).is_file());
    let mut found = Vec::new();
    for path in paths {
        found.extend(take_over(&path, settings));
        if found.len() == MAX_FOLDERS {
            break;
        }
    }
    found
}

fn take_over(path: &Path, own: &Settings) -> Option<LeftBehind> {
    let folder = Folder::open(path).ok()?;
    let lock = Lock::try_create(&folder.file(EXPORTER_LOCK)).ok()??;
    let mut settings = Settings::read(folder.path()).ok()?;
    let listing = folder.list().ok()?;
    if listing.processes.iter().any(|(name, process)| process.has_lock && !folder.is_unlocked(name)) {
        return None;
    }
    if (&settings.output, &settings.app) == (&own.output, &own.app) {
        // The key may be a new one.
        settings.key.clone_from(&own.key);
        settings.headers.clone_from(&own.headers);
    }
    Some(LeftBehind { folder, settings, lock })
}
