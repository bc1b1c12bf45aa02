//! Small files become few large ones, and profiles that were written twice are left out.

use std::time::Instant;

use super::groups::groups;
use super::rewriting::ProfileRows;
use super::{Report, Upkeep, UpkeepError, millis, millis_of};
use crate::query::Finished;
use crate::tables::{Change, DataFile, Partition, TableName, batch_of, day_of};

/// Days that are looked through for profiles that were written twice.
const DAYS: i64 = 7;

/// A day in microseconds.
const DAY: i64 = 86_400_000_000;

/// How long after the end of a day its last profiles may come.
const LATE: i64 = 3_600_000_000;

/// Attempts to replace files that other collectors replace, too.
const ATTEMPTS: usize = 20;

impl Upkeep {
    /// Merges the files of each partition.
    pub(super) async fn merge(&mut self, now: i64, report: &mut Report) -> Result<(), UpkeepError> {
        let begin = Instant::now();
        for name in TableName::WRITTEN {
            let profiles = self.table_mut(TableName::Profiles).partitions().await?;
            let partitions = self.table_mut(name).partitions().await?;
            for (partition, mut files) in partitions {
                if matches!(name, TableName::Samples | TableName::Spans) {
                    self.keep_finished(&mut files, profiles.get(&partition)).await?;
                }
                let is_complete = self.is_complete(&partition, &files, now);
                for group in groups(&files, &self.settings.limits, is_complete) {
                    if begin.elapsed() > self.settings.merging {
                        return Ok(());
                    }
                    self.replace(name, &group, &[], Change::Merge, report).await?;
                }
            }
        }
        self.leave_out_repeated(now, report).await
    }

    /// Leaves files out of which the profiles are not there (yet): questions leave them out, too, and know them by
    /// their names.
    async fn keep_finished(
        &self,
        files: &mut Vec<DataFile>,
        profiles: Option<&Vec<DataFile>>,
    ) -> Result<(), UpkeepError> {
        let profiles = profiles.into_iter().flatten();
        let mut finished = Finished::of(profiles.clone().map(|file| file.path.as_str()));
        if let Some(sql) = finished.query(files.iter().map(|file| file.path.as_str()), "files") {
            let merged: Vec<DataFile> =
                profiles.filter(|file| batch_of(&file.path).is_none()).cloned().collect();
            finished.add(&self.rewriter.rows(self.table(TableName::Profiles), &merged, &sql).await?)?;
        }
        files.retain(|file| finished.has(&file.path));
        Ok(())
    }

    /// Whether no more files of a day are to be expected.
    fn is_complete(&self, partition: &Partition, files: &[DataFile], now: i64) -> bool {
        let last = files.iter().map(|file| file.written).max().unwrap_or(0);
        partition.day < day_of(now - LATE) && last <= millis(now) - millis_of(self.settings.quiet)
    }

    /// Leaves out the rows of profiles that are there twice on one day. It is done once for each day, when no more are
    /// to be expected. Queries leave them out, too, in the same way. Those that are there on two days stay: which of
    /// the two counts depends on the days that are asked for.
    async fn leave_out_repeated(&mut self, now: i64, report: &mut Report) -> Result<(), UpkeepError> {
        let oldest = day_of(now - DAYS * DAY);
        let partitions = self.table_mut(TableName::Profiles).partitions().await?;
        self.unique.retain(|partition, _| partitions.contains_key(partition));
        for (partition, files) in partitions {
            let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
            let is_known = self.unique.get(&partition) == Some(&paths);
            if is_known || partition.day < oldest || !self.is_complete(&partition, &files, now) {
                continue;
            }
            let profiles = self.table(TableName::Profiles);
            let repeated = self.rewriter.repeated(profiles, &files).await?;
            if repeated.is_empty() {
                self.unique.insert(partition, paths);
            } else {
                tracing::info!(
                    day = partition.day,
                    profiles = repeated.len(),
                    "repeated profiles are left out"
                );
                self.leave_out(&partition, &repeated, Change::Merge, report).await?;
            }
        }
        Ok(())
    }

    /// Writes the files anew that have rows of some profiles, without these. The table of profiles comes last: as long
    /// as it has a profile twice, queries know that one of them does not count.
    pub(super) async fn leave_out(
        &mut self,
        partition: &Partition,
        profiles: &[ProfileRows],
        change: Change,
        report: &mut Report,
    ) -> Result<(), UpkeepError> {
        for name in [TableName::Spans, TableName::Samples, TableName::Profiles] {
            let mut attempts = 0;
            while !self.leave_out_of(name, partition, profiles, change, report).await? {
                attempts += 1;
                if attempts == ATTEMPTS {
                    return Err(UpkeepError::Busy(name));
                }
            }
        }
        Ok(())
    }

    /// Returns whether no file of the table has them any more.
    async fn leave_out_of(
        &mut self,
        name: TableName,
        partition: &Partition,
        profiles: &[ProfileRows],
        change: Change,
        report: &mut Report,
    ) -> Result<bool, UpkeepError> {
        let files = self.table_mut(name).partitions().await?.remove(partition).unwrap_or_default();
        let mut is_done = true;
        for file in files {
            let table = self.table(name);
            if self.rewriter.has_any(table, &file, profiles).await? {
                is_done &= self.replace(name, &[file], profiles, change, report).await?;
            }
        }
        Ok(is_done)
    }

    /// Writes the rows of files to a new one that takes their place. Returns whether it does: another collector may
    /// have been faster.
    async fn replace(
        &mut self,
        name: TableName,
        files: &[DataFile],
        without: &[ProfileRows],
        change: Change,
        report: &mut Report,
    ) -> Result<bool, UpkeepError> {
        let written = self.rewriter.rewrite(self.table(name), files, without).await?;
        let table = self.table_mut(name);
        let written: Vec<DataFile> = written.into_iter().collect();
        if table.replace(files, &written, change).await? {
            report.merged.add(files);
            report.written.add(&written);
            return Ok(true);
        }
        tracing::debug!(table = name.as_str(), "another collector has merged or deleted these files");
        table.delete_files(written.into_iter().map(|file| file.path).collect()).await?;
        Ok(false)
    }
}
