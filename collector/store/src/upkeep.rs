//! The upkeep of the tables: small files are merged, days and sessions are deleted, logs are kept short.
//!
//! It runs beside collectors that write and queries that read, in any number of processes. No step changes what a query
//! answers, apart from what is deleted on purpose. A step that is cut off at any moment leaves at most files that no
//! table names, which a later run deletes.

mod deletion;
mod groups;
mod hours;
mod logs;
mod merging;
mod removal;
mod retention;
mod rewriting;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use datafusion::error::DataFusionError;

pub use deletion::Deleted;
pub use groups::Limits;
pub use retention::Retention;

use crate::maps::{MapError, Maps};
use crate::query::QueryError;
use crate::tables::{self, Change, Location, Partition, Table, TableError, TableName};
use rewriting::Rewriter;

/// What is done, and when.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long days are kept.
    pub retention: Retention,
    /// Which files are merged.
    pub limits: Limits,
    /// How long a run goes on merging. What is left waits for the next one, so that files that are to be deleted do not
    /// wait long.
    pub merging: Duration,
    /// A day is merged for good when no file of it has come for this time.
    pub quiet: Duration,
    /// How long the files that were merged are kept, for queries that read them.
    pub keep_merged: Duration,
    /// How long the files of what was deleted are kept, for queries that read them.
    pub keep_deleted: Duration,
    /// How long files are kept that no table names. They may be those of a collector that is about to add them.
    pub keep_unnamed: Duration,
    /// How long the entries of the tables' logs are kept.
    pub keep_log: Duration,
    /// The log of a table is summed up after this many entries.
    pub checkpoint: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3_600));
        Self {
            retention: Retention::default(),
            limits: Limits::default(),
            merging: minute,
            quiet: 10 * minute,
            keep_merged: hour,
            keep_deleted: 5 * minute,
            keep_unnamed: 24 * hour,
            keep_log: 6 * hour,
            checkpoint: 50,
        }
    }
}

/// A step that failed.
#[derive(Debug, thiserror::Error)]
pub enum UpkeepError {
    /// The tables.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// The source maps.
    #[error(transparent)]
    Maps(#[from] MapError),
    /// The engine that reads files.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Rows that were not there.
    #[error("{read} of {expected} rows were read from {files} files of {table}, so these are not merged", table = .table.as_str())]
    Rows {
        /// The table.
        table: TableName,
        /// How many files were read.
        files: usize,
        /// How many rows they have, as the table says.
        expected: u64,
        /// How many were found.
        read: u64,
    },
    /// Other collectors replaced the same files again and again.
    #[error("the files of {} were replaced by other collectors meanwhile; try again", .0.as_str())]
    Busy(TableName),
}

impl From<DataFusionError> for UpkeepError {
    fn from(error: DataFusionError) -> Self {
        Self::Query(error.into())
    }
}

/// What a run has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The files that were merged, and their bytes.
    pub merged: Amount,
    /// The files into which they were merged.
    pub written: Amount,
    /// Files of samples whose hours were added up.
    pub summed: u64,
    /// Files that were deleted from the disk or the bucket.
    pub deleted: u64,
    /// Days of applications that were removed, because they were too old.
    pub days: u64,
    /// Source maps that were deleted.
    pub maps: u64,
    /// The steps that failed, with the reasons.
    pub problems: Vec<(Step, String)>,
}

/// An amount of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// The files.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, files: &[tables::DataFile]) {
        self.files += files.len() as u64;
        self.bytes += files.iter().map(|file| file.bytes).sum::<u64>();
    }
}

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Deletes files that no query can still read.
    Removal,
    /// Removes days that are too old.
    Retention,
    /// Merges files.
    Merging,
    /// Adds up hours.
    Hours,
    /// Keeps the tables' logs short.
    Logs,
}

/// The steps of a run, in their order. Hours come after merging: a merged file has a new name, and sums of its own.
const STEPS: [Step; 5] = [Step::Removal, Step::Retention, Step::Merging, Step::Hours, Step::Logs];

/// The upkeep of the tables at a location.
pub struct Upkeep {
    tables: Vec<Table>,
    maps: Maps,
    settings: Settings,
    rewriter: Rewriter,
    /// The files of profiles in which no profile was found twice.
    unique: BTreeMap<Partition, Vec<String>>,
    /// Files that were deleted, although logs still name them as removed.
    gone: HashSet<(TableName, String)>,
    /// When files that no table names were last looked for, in milliseconds since 1970.
    looked: Option<i64>,
    /// The last version of each table's log that was summed up.
    checkpoints: HashMap<TableName, u64>,
}

impl Upkeep {
    /// Opens the tables.
    pub async fn open(location: &Location, settings: Settings) -> Result<Self, UpkeepError> {
        Ok(Self {
            tables: tables::open(location).await?,
            maps: Maps::open(location)?,
            rewriter: Rewriter::new()?,
            settings,
            unique: BTreeMap::new(),
            gone: HashSet::new(),
            looked: None,
            checkpoints: HashMap::new(),
        })
    }

    /// Does what there is to do at this time, in microseconds since 1970. It may be dropped at any moment.
    pub async fn run(&mut self, now: i64) -> Report {
        let mut report = Report::default();
        for step in STEPS {
            let result = match step {
                Step::Removal => self.delete_removed(now, &mut report).await,
                Step::Retention => self.remove_old_days(now, &mut report).await,
                Step::Merging => self.merge(now, &mut report).await,
                Step::Hours => self.add_up_hours(Change::Merge, &mut report).await,
                Step::Logs => match self.shorten_logs(now).await {
                    // Another collector may have deleted entries that were being read. What it has written is read now.
                    Err(_) => self.shorten_logs(now).await,
                    done => done,
                },
            };
            if let Err(error) = result {
                report.problems.push((step, error.to_string()));
            }
        }
        report
    }

    fn table(&self, name: TableName) -> &Table {
        self.tables.iter().find(|table| table.name() == name).expect("all tables are open")
    }

    fn table_mut(&mut self, name: TableName) -> &mut Table {
        self.tables.iter_mut().find(|table| table.name() == name).expect("all tables are open")
    }
}

/// A time in microseconds as one in milliseconds.
fn millis(micros: i64) -> i64 {
    micros.div_euclid(1_000)
}

/// A period in milliseconds.
fn millis_of(period: Duration) -> i64 {
    i64::try_from(period.as_millis()).unwrap_or(i64::MAX)
}
