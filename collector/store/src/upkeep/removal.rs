//! Files that the tables do not name any more are deleted.

use std::collections::{HashMap, HashSet};

use super::{Report, Upkeep, UpkeepError, millis, millis_of};
use crate::tables::RemovedFile;

/// How often files are looked for that no table has ever named, in milliseconds.
const LOOK: i64 = 86_400_000;

impl Upkeep {
    /// Deletes files that were removed from the tables so long ago that no query reads them.
    pub(super) async fn delete_removed(&mut self, now: i64, report: &mut Report) -> Result<(), UpkeepError> {
        let now = millis(now);
        let is_time_to_look = self.looked.is_none_or(|looked| now - looked >= LOOK);
        let mut gone = HashSet::new();
        for table in &mut self.tables {
            let removed = table.removed().await?;
            let (merged, deleted) =
                (millis_of(self.settings.keep_merged), millis_of(self.settings.keep_deleted));
            let mut delete = Vec::new();
            for (path, due) in due(&removed, merged, deleted) {
                let file = (table.name(), path);
                if !self.gone.contains(&file) {
                    if due > now {
                        continue;
                    }
                    delete.push(file.1.clone());
                }
                gone.insert(file);
            }
            if is_time_to_look {
                let before = now - millis_of(self.settings.keep_unnamed);
                let unnamed = table.unnamed(&removed, before).await?;
                if !unnamed.is_empty() {
                    let (table, files) = (table.name().as_str(), unnamed.len());
                    tracing::info!(table, files, "files that no table names are deleted");
                }
                delete.extend(unnamed);
            }
            report.deleted += delete.len() as u64;
            table.delete_files(delete).await?;
        }
        if is_time_to_look {
            self.looked = Some(now);
        }
        self.gone = gone;
        Ok(())
    }
}

/// When each removed file is deleted. What a file holds that was merged, the deletion of a session is to delete, too.
fn due(removed: &[RemovedFile], keep_merged: i64, keep_deleted: i64) -> Vec<(String, i64)> {
    let mut last_deletion: HashMap<&str, i64> = HashMap::new();
    for file in removed.iter().filter(|file| file.is_deletion) {
        let last = last_deletion.entry(file.folder()).or_insert(file.time);
        *last = file.time.max(*last);
    }
    let due = |file: &RemovedFile| {
        let merged = file.time.saturating_add(keep_merged);
        match last_deletion.get(file.folder()) {
            Some(&last) if last >= file.time => merged.min(last.saturating_add(keep_deleted)),
            _ => merged,
        }
    };
    removed.iter().map(|file| (file.path.clone(), due(file))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_deleted_goes_sooner() {
        let file = |path: &str, time, is_deletion| RemovedFile { path: path.into(), time, is_deletion };
        let removed = [
            file("app=a/day=1/merged before", 10, false),
            file("app=a/day=1/deleted", 20, true),
            file("app=a/day=1/merged after", 30, false),
            file("app=b/day=1/of another app", 10, false),
        ];
        let due: Vec<i64> = due(&removed, 100, 5).into_iter().map(|(_, due)| due).collect();
        assert_eq!(due, [25, 25, 130, 110]);
    }
}
