//! Days that are too old are removed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::{Report, Upkeep, UpkeepError, millis, millis_of};
use crate::tables::{Change, DataFile, TableName, day_of};

/// How long days are kept: the application's own time, or else that of all. Without either, forever.
#[derive(Clone, Debug, Default)]
pub struct Retention {
    /// For all applications.
    pub all: Option<Duration>,
    /// For single ones.
    pub apps: HashMap<String, Duration>,
}

impl Retention {
    fn of(&self, app: &str) -> Option<Duration> {
        self.apps.get(app).copied().or(self.all)
    }

    /// The first day that is kept. A day is removed when all of it is too old.
    pub fn first_day(&self, app: &str, now: i64) -> Option<String> {
        let keep = i64::try_from(self.of(app)?.as_micros()).unwrap_or(i64::MAX);
        Some(day_of(now.saturating_sub(keep)))
    }
}

impl Upkeep {
    /// Removes days from all tables.
    pub(super) async fn remove_old_days(&mut self, now: i64, report: &mut Report) -> Result<(), UpkeepError> {
        let retention = self.settings.retention.clone();
        let mut removed = BTreeSet::new();
        // What others refer to goes last.
        for name in TableName::ALL.into_iter().rev() {
            let table = self.table_mut(name);
            for (partition, files) in table.partitions().await? {
                let first = retention.first_day(&partition.app, now);
                if first.is_some_and(|first| partition.day < first)
                    && table.replace(&files, &[], Change::Deletion).await?
                {
                    removed.insert(partition);
                }
            }
        }
        if removed.is_empty() {
            return Ok(());
        }
        report.days += removed.len() as u64;
        let apps: BTreeSet<String> = removed.into_iter().map(|partition| partition.app).collect();
        for app in apps {
            report.maps += self.delete_unused_maps(&app, now).await?;
        }
        Ok(())
    }

    /// Deletes the source maps of releases that have no profiles any more. A new map may have come before the first
    /// profile of its release.
    async fn delete_unused_maps(&mut self, app: &str, now: i64) -> Result<u64, UpkeepError> {
        let Some(keep) = self.settings.retention.of(app) else { return Ok(0) };
        let partitions: BTreeMap<_, Vec<DataFile>> = self.table_mut(TableName::Profiles).partitions().await?;
        let profiles = self.table(TableName::Profiles);
        let mut used = BTreeSet::new();
        for (_, files) in partitions.iter().filter(|(partition, _)| partition.app == app) {
            used.extend(self.rewriter.releases(profiles, files).await?);
        }
        Ok(self.maps.delete_unused(app, &used, millis(now) - millis_of(keep)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_kept_as_long_as_any_of_it_is_young_enough() {
        let day = Duration::from_secs(86_400);
        let retention = Retention { all: Some(30 * day), apps: HashMap::from([("blog".into(), day)]) };
        // 2026-11-23, 13:20 UTC.
        let now = 1_795_440_000_000_000;
        assert_eq!(retention.first_day("shop", now).unwrap(), "2026-10-24");
        assert_eq!(retention.first_day("blog", now).unwrap(), "2026-11-22");
        assert_eq!(Retention::default().first_day("shop", now), None);
    }
}
