//! The log of a table, summed up.

use deltalake::{DeltaTableError, ObjectStoreError, checkpoints};

use super::TableError;
use super::table::Table;

impl Table {
    /// Its version as of now.
    pub async fn version(&mut self) -> Result<u64, TableError> {
        self.delta.update_state().await?;
        Ok(self.delta.snapshot()?.version())
    }

    /// Writes a checkpoint: what the log says up to now, in one file. Deletes the entries before it that are older than
    /// a time in milliseconds since 1970. Returns the version.
    pub async fn sum_up_log(&mut self, before: i64) -> Result<u64, TableError> {
        let version = self.version().await?;
        checkpoints::create_checkpoint(&self.delta, None).await?;
        let checkpoint = format!("_delta_log/{version:020}.checkpoint.parquet");
        self.sync([checkpoint.as_str(), "_delta_log/_last_checkpoint"]).await?;
        let log = self.delta.log_store();
        match checkpoints::cleanup_expired_logs_for(version, log.as_ref(), before, None).await {
            Ok(_) => {}
            // Another collector is deleting them.
            Err(DeltaTableError::ObjectStore { source: ObjectStoreError::NotFound { .. } }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(version)
    }
}
