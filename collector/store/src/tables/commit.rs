//! What a table's log says, and how it is added to.

use std::collections::HashMap;

use deltalake::DeltaTableError;
use deltalake::kernel::transaction::{CommitProperties, TransactionError};
use deltalake::kernel::{Add, Remove};

use super::Partition;

/// A file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its path in the table's folder.
    pub path: String,
    /// Its folder's application and day.
    pub partition: Partition,
    /// Its size.
    pub bytes: u64,
    /// How many rows it has.
    pub rows: u64,
    /// When it was written, in milliseconds since 1970.
    pub written: i64,
}

/// A commit that leaves checkpoints and the deletion of old log entries to the upkeep: otherwise each commit lists the
/// whole log.
pub(super) fn properties() -> CommitProperties {
    CommitProperties::default().with_create_checkpoint(false).with_cleanup_expired_logs(Some(false))
}

/// Whether another writer was faster, so that what was to be committed has to be looked at again.
pub(super) fn is_conflict(error: &DeltaTableError) -> bool {
    matches!(
        error,
        DeltaTableError::Transaction {
            source: TransactionError::CommitConflict(_) | TransactionError::MaxCommitAttempts(_)
        } | DeltaTableError::VersionAlreadyExists(_)
    )
}

/// What a table's log says of a new file.
pub(super) fn add(file: &DataFile, data_change: bool) -> Add {
    Add {
        path: file.path.clone(),
        partition_values: values(&file.partition),
        size: i64::try_from(file.bytes).unwrap_or(i64::MAX),
        modification_time: file.written,
        data_change,
        stats: Some(format!("{{\"numRecords\":{}}}", file.rows)),
        ..Add::default()
    }
}

/// What a table's log says of a file that is in it no more.
pub(super) fn remove(file: &DataFile, now: i64, data_change: bool) -> Remove {
    Remove {
        path: file.path.clone(),
        data_change,
        deletion_timestamp: Some(now),
        extended_file_metadata: Some(true),
        partition_values: Some(values(&file.partition)),
        size: Some(i64::try_from(file.bytes).unwrap_or(i64::MAX)),
        tags: None,
        deletion_vector: None,
        base_row_id: None,
        default_row_commit_version: None,
    }
}

fn values(partition: &Partition) -> HashMap<String, Option<String>> {
    HashMap::from([
        ("app".to_owned(), Some(partition.app.clone())),
        ("day".to_owned(), Some(partition.day.clone())),
    ])
}

/// The entry of a version in the table's log.
pub(super) fn version_path(version: u64) -> String {
    format!("_delta_log/{version:020}.json")
}
