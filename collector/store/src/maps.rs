//! Source maps: kept by application and release, found by the script that they are of.
//!
//! Maps are applied when a question is answered, so a map that comes late also names what was stored before. They are
//! never given out.

mod symbols;

use std::collections::BTreeSet;
use std::sync::Arc;

use deltalake::Path;
use deltalake::logstore::object_store::{ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use parking_lot::Mutex;
use selfprof_source_maps::Map;

use crate::ids;
use crate::tables::{Location, TableError};

/// The maps at a location.
pub struct Maps {
    store: Arc<dyn ObjectStore>,
    read: Mutex<Vec<(Path, Arc<ReleaseMaps>)>>,
}

/// The maps of one release.
#[derive(Debug, Default)]
pub struct ReleaseMaps {
    /// The files that they were read from.
    files: BTreeSet<Path>,
    /// By the script's name: its path, as it was when the map was uploaded. The newest comes last.
    maps: Vec<(String, Map)>,
}

/// A source map that is not kept.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// It is not one.
    #[error("{0} is not a source map: {1}")]
    Invalid(String, String),
    /// The place where maps are kept.
    #[error("source maps cannot be kept or read: {0}")]
    Store(#[from] deltalake::ObjectStoreError),
    /// The location.
    #[error(transparent)]
    Location(#[from] TableError),
    /// A kept map.
    #[error("a kept source map is damaged: {0}")]
    Damaged(String),
}

/// Releases whose maps stay in memory.
const RELEASES_IN_MEMORY: usize = 8;

impl Maps {
    /// The maps at a location.
    pub fn open(location: &Location) -> Result<Self, MapError> {
        Ok(Self { store: location.store("maps")?, read: Mutex::default() })
    }

    /// Keeps the map of a script of a release. The script's name is its path, such as `assets/shop.js`; the script's
    /// URL ends with it.
    pub async fn put(&self, app: &str, release: &str, script: &str, json: &[u8]) -> Result<(), MapError> {
        Map::read(json).map_err(|error| MapError::Invalid(script.to_owned(), error.to_string()))?;
        let record =
            rmp_serde::to_vec(&(script, json)).map_err(|error| MapError::Damaged(error.to_string()))?;
        let bytes = zstd::bulk::compress(&record, 3).map_err(|error| MapError::Damaged(error.to_string()))?;
        let path = folder(app, release).join(format!("{}.map.zst", blake3::hash(&record).to_hex()));
        self.store.put(&path, bytes.into()).await?;
        Ok(())
    }

    /// Deletes the maps of an application that are of none of these releases and older than a time in milliseconds
    /// since 1970. Returns how many there were.
    pub async fn delete_unused(
        &self,
        app: &str,
        releases: &BTreeSet<String>,
        before: i64,
    ) -> Result<u64, MapError> {
        let used: BTreeSet<Path> = releases.iter().map(|release| folder(app, release)).collect();
        let all = Path::from(format!("app={app}"));
        let found: Vec<_> = self.store.list(Some(&all)).try_collect().await?;
        let is_used = |path: &Path| used.iter().any(|folder| path.prefix_matches(folder));
        let mut deleted = 0;
        for file in found {
            if !is_used(&file.location) && file.last_modified.timestamp_millis() < before {
                self.store.delete(&file.location).await?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// The maps of a release.
    pub async fn of_release(&self, app: &str, release: &str) -> Result<Arc<ReleaseMaps>, MapError> {
        let folder = folder(app, release);
        let mut found: Vec<_> = self.store.list(Some(&folder)).try_collect().await?;
        found.sort_by_key(|file| file.last_modified);
        let files: BTreeSet<Path> = found.iter().map(|file| file.location.clone()).collect();
        let known =
            self.read.lock().iter().find(|(path, _)| *path == folder).map(|(_, maps)| Arc::clone(maps));
        if let Some(known) = known.filter(|known| known.files == files) {
            return Ok(known);
        }
        let mut maps = Vec::new();
        for file in &found {
            let bytes = self.store.get(&file.location).await?.bytes().await?;
            let damaged =
                |error: &dyn std::fmt::Display| MapError::Damaged(format!("{}: {error}", file.location));
            let record = zstd::stream::decode_all(bytes.as_ref()).map_err(|error| damaged(&error))?;
            let (script, json): (String, Vec<u8>) =
                rmp_serde::from_slice(&record).map_err(|error| damaged(&error))?;
            maps.push((script, Map::read(&json).map_err(|error| damaged(&error))?));
        }
        let maps = Arc::new(ReleaseMaps { files, maps });
        let mut read = self.read.lock();
        read.retain(|(path, _)| *path != folder);
        if read.len() == RELEASES_IN_MEMORY {
            read.remove(0);
        }
        read.push((folder, Arc::clone(&maps)));
        Ok(maps)
    }
}

impl ReleaseMaps {
    /// Which map is that of a script: the one whose name has most parts in common with the end of the URL, at least the
    /// file's name. The newest of several.
    fn of_script(&self, url: &str) -> Option<usize> {
        let common = |name: &str| {
            name.rsplit('/').zip(url.rsplit('/')).take_while(|(a, b)| a == b && !a.is_empty()).count()
        };
        let numbered = self.maps.iter().enumerate().map(|(number, (name, _))| (common(name), number));
        numbered.max().filter(|&(parts, _)| parts > 0).map(|(_, number)| number)
    }

    /// Whether there is one of a script.
    pub fn has_map_of(&self, url: &str) -> bool {
        self.of_script(url).is_some()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }
}

/// The folder of a release, whose name may have any characters.
fn folder(app: &str, release: &str) -> Path {
    let release = ids::release(app, release).0;
    Path::from_iter([format!("app={app}"), format!("release={release:016x}")])
}
