//! Changes of which files a table has.

use std::collections::BTreeMap;

use deltalake::kernel::Action;
use deltalake::kernel::transaction::CommitBuilder;
use deltalake::protocol::DeltaOperation;

use super::commit::{self, DataFile};
use super::table::Table;
use super::{Partition, TableError};

/// Why files are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The rows that count stay the same.
    Merge,
    /// Rows are deleted, for good and soon.
    Deletion,
}

/// Attempts to add to a log to which others add, too.
const ATTEMPTS: usize = 100;

impl Table {
    /// Its files as of now, by partition; the oldest first.
    pub async fn partitions(&mut self) -> Result<BTreeMap<Partition, Vec<DataFile>>, TableError> {
        self.delta.update_state().await?;
        let mut partitions: BTreeMap<Partition, Vec<DataFile>> = BTreeMap::new();
        for file in self.delta.snapshot()?.log_data().iter() {
            let mut values = file.partition_values_map();
            let mut value = |name: &str| values.remove(name).flatten().unwrap_or_default();
            let partition = Partition { app: value("app"), day: value("day") };
            partitions.entry(partition.clone()).or_default().push(DataFile {
                path: file.path().into_owned(),
                partition,
                bytes: file.size().unsigned_abs(),
                rows: file.num_records().unwrap_or(0) as u64,
                written: file.modification_time(),
            });
        }
        for files in partitions.values_mut() {
            files.sort_unstable_by(|a, b| (a.written, &a.path).cmp(&(b.written, &b.path)));
        }
        Ok(partitions)
    }

    /// Puts new files in the place of old ones, in one step. Returns whether it was done: it is not if another
    /// collector has replaced or deleted one of the old files.
    ///
    /// Delta's own check of conflicts would let two collectors merge the same file, because merges change no data, and
    /// its rows would be there twice. So nothing is committed to a version of the table that was not looked at here.
    pub async fn replace(
        &mut self,
        old: &[DataFile],
        new: &[DataFile],
        change: Change,
    ) -> Result<bool, TableError> {
        self.sync(new.iter().map(|file| file.path.as_str())).await?;
        let data_change = change == Change::Deletion;
        for _ in 0..ATTEMPTS {
            let present = self.partitions().await?;
            let is_present = |file: &DataFile| {
                let files = present.get(&file.partition);
                files.is_some_and(|files| files.iter().any(|other| other.path == file.path))
            };
            if !old.iter().all(is_present) {
                // An attempt may have succeeded although it was answered with an error.
                return Ok(!new.is_empty() && new.iter().all(is_present));
            }
            let now = chrono::Utc::now().timestamp_millis();
            let removed = old.iter().map(|file| Action::Remove(commit::remove(file, now, data_change)));
            let added = new.iter().map(|file| Action::Add(commit::add(file, data_change)));
            let operation = match change {
                Change::Merge => DeltaOperation::Optimize { predicate: None, target_size: 0 },
                Change::Deletion => DeltaOperation::Delete { predicate: None },
            };
            let committed = CommitBuilder::from(commit::properties().with_max_retries(0))
                .with_actions(removed.chain(added).collect())
                .build(Some(self.delta.snapshot()?), self.delta.log_store(), operation)
                .await;
            match committed {
                Ok(committed) => {
                    self.sync([commit::version_path(committed.version()).as_str()]).await?;
                    return Ok(true);
                }
                Err(error) if commit::is_conflict(&error) => {
                    tracing::debug!(%error, "a commit is tried again")
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}
