//! The samples of whole hours are added up, so that questions about long periods read fewer rows.

use std::collections::HashSet;

use super::{Report, Upkeep, UpkeepError};
use crate::tables::{Change, DataFile, TableName};

impl Upkeep {
    /// Makes the file of sums of each file of samples that has none and is not small, and takes the sums of files that
    /// are gone out of the table. Small files are soon merged into larger ones.
    ///
    /// Two collectors that do this at the same time make equal files.
    pub(super) async fn add_up_hours(
        &mut self,
        change: Change,
        report: &mut Report,
    ) -> Result<(), UpkeepError> {
        let samples = self.table_mut(TableName::Samples).partitions().await?;
        for (partition, sums) in self.table_mut(TableName::Hours).partitions().await? {
            let paths = paths(samples.get(&partition));
            let gone: Vec<DataFile> =
                sums.into_iter().filter(|file| !paths.contains(file.path.as_str())).collect();
            if !gone.is_empty() {
                self.table_mut(TableName::Hours).replace(&gone, &[], change).await?;
            }
        }
        let sums = self.table_mut(TableName::Hours).partitions().await?;
        for (partition, files) in samples {
            let (known, least) = (paths(sums.get(&partition)), self.settings.limits.summed);
            let is_wanted = |file: &&DataFile| file.rows >= least && !known.contains(file.path.as_str());
            for file in files.iter().filter(is_wanted) {
                let (samples, hours) = (self.table(TableName::Samples), self.table(TableName::Hours));
                let Some(sums) = self.rewriter.add_up(samples, hours, file).await? else { continue };
                self.table_mut(TableName::Hours).replace(&[], &[sums], Change::Merge).await?;
                report.summed += 1;
            }
        }
        Ok(())
    }
}

fn paths(files: Option<&Vec<DataFile>>) -> HashSet<&str> {
    files.into_iter().flatten().map(|file| file.path.as_str()).collect()
}
