//! The files of a table, as they were listed once.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::Partition;
use super::commit::DataFile;

/// The files of a version of a table.
pub(super) struct Listing {
    version: u64,
    paths: BTreeMap<Partition, Vec<String>>,
    /// When the whole log was looked at.
    time: Instant,
}

/// The whole log is looked at after this time, in case that it was changed in an unusual way.
const LONGEST: Duration = Duration::from_secs(60);

impl Listing {
    /// These files, which a version of the table has as of a time.
    pub fn new(version: u64, files: BTreeMap<Partition, Vec<DataFile>>, time: Instant) -> Self {
        let paths = files.into_iter().map(|(partition, files)| {
            (partition, files.into_iter().map(|file| file.path).collect::<Vec<_>>())
        });
        Self { version, paths: paths.collect(), time }
    }

    /// The version of the table.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether it may still be used.
    pub fn is_recent(&self) -> bool {
        self.time.elapsed() < LONGEST
    }

    /// The files for these days of an application.
    pub fn paths(&self, app: &str, days: RangeInclusive<&str>) -> Vec<String> {
        let partition = |day: &str| Partition { app: app.to_owned(), day: day.to_owned() };
        let days = partition(days.start())..=partition(days.end());
        if days.is_empty() {
            return Vec::new();
        }
        self.paths.range(days).flat_map(|(_, paths)| paths).cloned().collect()
    }
}
