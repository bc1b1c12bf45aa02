//! Files that a table does not name any more.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path as FilePath;

use deltalake::{DeltaTableError, ObjectStore, ObjectStoreError, Path};
use futures::{StreamExt, TryStreamExt};

use super::TableError;
use super::table::Table;

/// A file that was replaced, or whose rows were deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedFile {
    /// Its path in the table's folder.
    pub path: String,
    /// When it was removed from the table, in milliseconds since 1970.
    pub time: i64,
    /// Whether rows were deleted with it.
    pub is_deletion: bool,
}

impl RemovedFile {
    /// The folder of its application and day.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl Table {
    /// The files that its log names as removed, as of now. They may still be there.
    pub async fn removed(&mut self) -> Result<Vec<RemovedFile>, TableError> {
        self.delta.update_state().await?;
        let log = self.delta.log_store();
        let removed = self.delta.snapshot()?.all_tombstones(log.as_ref());
        let removed = removed.map_ok(|file| RemovedFile {
            path: file.path().into_owned(),
            time: file.deletion_timestamp().unwrap_or(0),
            is_deletion: file.data_change(),
        });
        Ok(removed.try_collect().await?)
    }

    /// The files in its folder that it neither names nor has removed a short time ago, and that are older than a time
    /// in milliseconds since 1970: what is left of a collector that has ended suddenly.
    pub async fn unnamed(&mut self, removed: &[RemovedFile], before: i64) -> Result<Vec<String>, TableError> {
        // What was removed before this list is known; what is added after it is young.
        let mut named: HashSet<String> =
            self.partitions().await?.into_values().flatten().map(|file| file.path).collect();
        named.extend(removed.iter().map(|file| file.path.clone()));
        let files = match &self.folder {
            Some(folder) => files_in(folder)?,
            None => {
                let objects = self.delta.object_store();
                let objects = objects
                    .list(None)
                    .map_ok(|object| (object.location.to_string(), object.last_modified.timestamp_millis()));
                objects.try_collect().await.map_err(DeltaTableError::from)?
            }
        };
        let is_unnamed = |(path, modified): &(String, i64)| {
            path.starts_with("app=") && *modified < before && !named.contains(path)
        };
        Ok(files.into_iter().filter(is_unnamed).map(|(path, _)| path).collect())
    }

    /// Deletes files that it does not name, if they are there.
    pub async fn delete_files(&self, paths: Vec<String>) -> Result<(), TableError> {
        if let Some(folder) = &self.folder {
            return Ok(paths.iter().try_for_each(|path| delete_file(&folder.join(path)))?);
        }
        let paths = paths.into_iter().map(|path| Ok(Path::from(path)));
        let mut deleted = self.delta.object_store().delete_stream(futures::stream::iter(paths).boxed());
        while let Some(result) = deleted.next().await {
            match result {
                Ok(_) | Err(ObjectStoreError::NotFound { .. }) => {}
                Err(error) => return Err(DeltaTableError::from(error).into()),
            }
        }
        Ok(())
    }
}

fn delete_file(file: &FilePath) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Ok(()) => {
            // The folder of a day whose last file this was. It stays if it is not empty.
            let _ = file.parent().map(fs::remove_dir);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The files of all days, with the times of their last changes. Those that were not written completely have names of
/// their own.
fn files_in(folder: &FilePath) -> Result<Vec<(String, i64)>, TableError> {
    let mut files = Vec::new();
    for app in folders(folder)? {
        for day in folders(&app)? {
            for entry in fs::read_dir(&day)? {
                let entry = entry?;
                let modified: chrono::DateTime<chrono::Utc> = match entry.metadata() {
                    Ok(metadata) => metadata.modified()?.into(),
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => return Err(error.into()),
                };
                let path = entry.path();
                let path = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                files.push((path, modified.timestamp_millis()));
            }
        }
    }
    Ok(files)
}

fn folders(folder: &FilePath) -> std::io::Result<Vec<std::path::PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.file_name() != "_delta_log" {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}
