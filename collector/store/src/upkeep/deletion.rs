//! The deletion of a session.

use super::{Report, Upkeep, UpkeepError};
use crate::ids::{self, ProfileId};
use crate::tables::{Change, TableName};

/// What was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The profiles.
    pub profiles: Vec<ProfileId>,
}

impl Upkeep {
    /// Deletes the profiles of a session of an application that are in the tables when it begins. Other collectors may
    /// have further ones in their logs. If it fails, the same call can be made again.
    pub async fn delete_session(&mut self, app: &str, session: &str) -> Result<Deleted, UpkeepError> {
        let session = ids::session(app, session).0;
        let mut deleted = Deleted::default();
        let partitions = self.table_mut(TableName::Profiles).partitions().await?;
        for (partition, files) in partitions.into_iter().filter(|(partition, _)| partition.app == app) {
            let profiles = self.table(TableName::Profiles);
            let rows = self.rewriter.of_session(profiles, &files, session).await?;
            if !rows.is_empty() {
                // What other rows refer to stays, such as stacks: it says nothing of a session.
                self.leave_out(&partition, &rows, Change::Deletion, &mut Report::default()).await?;
                deleted.profiles.extend(rows.iter().map(|&(profile, _)| ProfileId(profile)));
            }
        }
        self.add_up_hours(Change::Deletion, &mut Report::default()).await?;
        deleted.profiles.sort_unstable();
        deleted.profiles.dedup();
        Ok(deleted)
    }
}
