//! The tables' logs are summed up, so that a table with many versions is opened as fast as one with few.

use super::{Upkeep, UpkeepError, millis, millis_of};

impl Upkeep {
    /// Sums up logs that have become longer, and deletes the old entries of these.
    pub(super) async fn shorten_logs(&mut self, now: i64) -> Result<(), UpkeepError> {
        let before = millis(now) - millis_of(self.settings.keep_log);
        for table in &mut self.tables {
            let last = self.checkpoints.get(&table.name()).copied().unwrap_or(0);
            if table.version().await? < last + self.settings.checkpoint {
                continue;
            }
            let version = table.sum_up_log(before).await?;
            self.checkpoints.insert(table.name(), version);
        }
        Ok(())
    }
}
