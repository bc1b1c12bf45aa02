//! Which files a table has for some days. As long as nothing is added to its log, the log is not read again.

use std::ops::RangeInclusive;
use std::time::Instant;

use deltalake::logstore::object_store::ObjectStoreExt;
use deltalake::{DeltaTableError, ObjectStoreError, Path};
use url::Url;

use super::TableError;
use super::commit::version_path;
use super::listing::Listing;
use super::table::Table;

impl Table {
    /// The URLs of its files for these days of an application, as of now. All of them are there.
    pub async fn files(&mut self, app: &str, days: RangeInclusive<&str>) -> Result<Vec<Url>, TableError> {
        let listing = match self.listing.take() {
            Some(listing) if self.is_current(&listing).await? => listing,
            _ => {
                let (time, files) = (Instant::now(), self.partitions().await?);
                Listing::new(self.delta.snapshot()?.version(), files, time)
            }
        };
        let paths = self.listing.insert(listing).paths(app, days);
        let urls = paths.iter().map(|path| self.url(path)).collect();
        self.check_files(paths).await?;
        Ok(urls)
    }

    /// Whether nothing was added to the log after that version.
    async fn is_current(&self, listing: &Listing) -> Result<bool, TableError> {
        if !listing.is_recent() {
            return Ok(false);
        }
        // Old entries are deleted, the oldest first. If that of this version is there, so are all after it.
        let (this, next) = (version_path(listing.version()), version_path(listing.version() + 1));
        let (this, next) = tokio::try_join!(self.has_entry(&this), self.has_entry(&next))?;
        Ok(this && !next)
    }

    async fn has_entry(&self, path: &str) -> Result<bool, TableError> {
        if let Some(folder) = &self.folder {
            return Ok(folder.join(path).try_exists()?);
        }
        match self.delta.object_store().head(&Path::from(path)).await {
            Ok(_) => Ok(true),
            Err(ObjectStoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(DeltaTableError::from(error).into()),
        }
    }
}
