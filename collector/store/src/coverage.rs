//! How many sessions are profiled, and why others cannot be: sums by day, in small files beside the tables.
//!
//! Each process has files of its own, so that several collectors can share a location. What was counted in the last
//! seconds is lost if the process is killed. Nothing of a session is kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use deltalake::Path;
use deltalake::logstore::object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};
use futures::TryStreamExt;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::{self, ProfileId};
use crate::profile::{Labels, NotAProbability, check_rate};
use crate::recent::Recent;
use crate::tables::{Location, TableError, day_of};
use crate::upkeep::Retention;

/// How a page is profiled, or why it cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// By the browser's profiler.
    Native,
    /// By one that the page has itself.
    Polyfill,
    /// Not, because the browser has no profiler.
    NoApi,
    /// Not, because the browser does not allow it: the header `Document-Policy` is missing.
    NotAllowed,
    /// Not, for another reason.
    Failed,
}

impl Coverage {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Native, Self::Polyfill, Self::NoApi, Self::NotAllowed, Self::Failed];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Polyfill => "polyfill",
            Self::NoApi => "no-api",
            Self::NotAllowed => "not-allowed",
            Self::Failed => "failed",
        }
    }

    /// Whether there are profiles.
    pub fn is_profiled(self) -> bool {
        matches!(self, Self::Native | Self::Polyfill)
    }
}

/// What a session says once.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    id: ProfileId,
    app: String,
    day: String,
    key: Key,
    rate: f64,
}

/// What reports are added up by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    coverage: Coverage,
    release: String,
    page: String,
    browser: String,
}

/// Reports of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// How many there are.
    pub reports: u64,
    /// How many sessions they stand for: the sum of 1 / rate.
    pub sessions: f64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.reports += other.reports;
        self.sessions += other.sessions;
    }
}

/// A row of a file.
#[derive(Serialize, Deserialize)]
struct Row {
    #[serde(flatten)]
    key: Key,
    #[serde(flatten)]
    sum: Sum,
}

/// What is grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupBy {
    /// The browser and its major version.
    Browser,
    /// The release.
    Release,
    /// The page.
    Page,
}

/// By text: the sums of each kind of coverage.
pub type Groups = BTreeMap<String, BTreeMap<Coverage, Sum>>;

/// The files cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    /// The place where they are.
    #[error("the coverage cannot be kept or read: {0}")]
    Store(#[from] Error),
    /// The location.
    #[error(transparent)]
    Location(#[from] TableError),
    /// A file.
    #[error("a file of coverage is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// The coverage at a location.
pub struct Coverages {
    store: Arc<dyn ObjectStore>,
    /// The name of this process's files.
    name: String,
    counted: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    recent: Recent,
    /// By application and day. Those that are over are forgotten when they are written.
    days: HashMap<(String, String), Day>,
}

#[derive(Default)]
struct Day {
    sums: BTreeMap<Key, Sum>,
    is_changed: bool,
}

/// Further kinds of reports of an application and a day are added up without release, page and browser.
const MAX_KINDS: usize = 5_000;

/// Further applications are not counted until the next day.
const MAX_DAYS: usize = 1_000;

impl Report {
    /// A report, received at a time in microseconds since 1970. Without an id, each counts.
    pub fn new(
        time: i64,
        labels: Labels,
        coverage: Coverage,
        id: Option<&str>,
        rate: Option<f64>,
    ) -> Result<Self, NotAProbability> {
        let Labels { app, release, page, browser, .. } = labels;
        let unique = Uuid::new_v4().to_string();
        Ok(Self {
            id: ids::profile(&app, &format!("coverage {}", id.unwrap_or(&unique))),
            app,
            day: day_of(time),
            key: Key { coverage, release, page, browser },
            rate: check_rate(rate)?,
        })
    }
}

impl Coverages {
    /// The coverage at a location.
    pub fn open(location: &Location) -> Result<Self, CoverageError> {
        Ok(Self {
            store: location.store("coverage")?,
            name: format!("{}.json", Uuid::new_v4()),
            counted: Mutex::default(),
        })
    }

    /// Counts reports, each once. Returns how many are new.
    pub fn add(&self, reports: &[Report]) -> usize {
        let mut counted = self.counted.lock();
        let Counted { recent, days } = &mut *counted;
        let mut new = 0;
        for Report { id, app, day, key, rate } in reports {
            let name = (app.clone(), day.clone());
            if recent.contains(*id) || (days.len() >= MAX_DAYS && !days.contains_key(&name)) {
                continue;
            }
            recent.insert(*id);
            new += 1;
            let day = days.entry(name).or_default();
            let mut key = key.clone();
            if day.sums.len() >= MAX_KINDS && !day.sums.contains_key(&key) {
                key = Key { coverage: key.coverage, ..Key::none() };
            }
            day.sums.entry(key).or_default().add(Sum { reports: 1, sessions: 1.0 / rate });
            day.is_changed = true;
        }
        new
    }

    /// Writes what was counted. Days before this time's are forgotten. What fails is tried again by the next call.
    pub async fn write(&self, now: i64) -> Result<(), CoverageError> {
        let today = day_of(now);
        let mut files = Vec::new();
        for ((app, day), sums) in self.counted.lock().days.iter_mut().filter(|(_, day)| day.is_changed) {
            let row = |(key, &sum): (&Key, &Sum)| Row { key: key.clone(), sum };
            let rows: Vec<Row> = sums.sums.iter().map(row).collect();
            sums.is_changed = false;
            files.push((app.clone(), day.clone(), serde_json::to_vec(&rows)?));
        }
        let mut result = Ok(());
        for (app, day, bytes) in files {
            let path = folder(&app).join(format!("day={day}")).join(self.name.as_str());
            if let Err(error) = self.store.put(&path, PutPayload::from(bytes)).await {
                result = Err(error.into());
                if let Some(day) = self.counted.lock().days.get_mut(&(app, day)) {
                    day.is_changed = true;
                }
            }
        }
        self.counted.lock().days.retain(|(_, day), sums| sums.is_changed || *day >= today);
        result
    }

    /// What sessions of an application have said in the days of a period, times in microseconds since 1970.
    pub async fn read(&self, app: &str, from: i64, to: i64, by: GroupBy) -> Result<Groups, CoverageError> {
        let mut groups = Groups::new();
        let (first, last) = (day_of(from), day_of(to.saturating_sub(1)));
        let mut add = |key: Key, sum: Sum| {
            let Key { coverage, release, page, browser } = key;
            let group = match by {
                GroupBy::Browser => browser,
                GroupBy::Release => release,
                GroupBy::Page => page,
            };
            groups.entry(group).or_default().entry(coverage).or_default().add(sum);
        };
        let own: Vec<(String, BTreeMap<Key, Sum>)> = {
            let counted = self.counted.lock();
            let of_app = counted.days.iter().filter(|((of, _), _)| of == app);
            of_app.map(|((_, day), sums)| (day.clone(), sums.sums.clone())).collect()
        };
        for file in self.files(app).await? {
            let day = file.day();
            let is_own = file.path.filename() == Some(&self.name) && own.iter().any(|(own, _)| own == day);
            if day < first.as_str() || day > last.as_str() || is_own {
                continue;
            }
            let bytes = match self.store.get(&file.path).await {
                // It has become too old meanwhile.
                Err(Error::NotFound { .. }) => continue,
                got => got?.bytes().await?,
            };
            let rows: Vec<Row> = serde_json::from_slice(&bytes)?;
            rows.into_iter().for_each(|Row { key, sum }| add(key, sum));
        }
        for (day, sums) in own {
            if day >= first && day <= last {
                sums.into_iter().for_each(|(key, sum)| add(key, sum));
            }
        }
        Ok(groups)
    }

    /// The applications with reports, in alphabetical order.
    pub async fn apps(&self) -> Result<BTreeSet<String>, CoverageError> {
        let folders = self.store.list_with_delimiter(None).await?.common_prefixes;
        let written =
            folders.iter().filter_map(|path| path.filename()?.strip_prefix("app=").map(str::to_owned));
        let mut apps: BTreeSet<String> = written.collect();
        apps.extend(self.counted.lock().days.keys().map(|(app, _)| app.clone()));
        Ok(apps)
    }

    /// Deletes the days that are too old.
    pub async fn delete_old(&self, retention: &Retention, now: i64) -> Result<(), CoverageError> {
        for app in self.apps().await? {
            let Some(first) = retention.first_day(&app, now) else { continue };
            for file in self.files(&app).await? {
                if file.day() < first.as_str() {
                    self.store.delete(&file.path).await?;
                }
            }
        }
        Ok(())
    }

    async fn files(&self, app: &str) -> Result<Vec<DayFile>, CoverageError> {
        let files: Vec<_> = self.store.list(Some(&folder(app))).try_collect().await?;
        Ok(files.into_iter().map(|file| DayFile { path: file.location }).collect())
    }
}

impl Key {
    fn none() -> Self {
        let [release, page, browser] = Default::default();
        Self { coverage: Coverage::Failed, release, page, browser }
    }
}

/// A file of a day: `app=shop/day=2026-11-23/NAME.json`.
struct DayFile {
    path: Path,
}

impl DayFile {
    fn day(&self) -> &str {
        self.path.as_ref().split('/').find_map(|part| part.strip_prefix("day=")).unwrap_or_default()
    }
}

fn folder(app: &str) -> Path {
    Path::from_iter([format!("app={app}")])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// 2026-11-23, 13:20 UTC.
    const NOW: i64 = 1_795_440_000_000_000;
    const DAY: i64 = 86_400_000_000;

    fn report(id: &str, browser: &str, coverage: Coverage, time: i64) -> Report {
        let labels = Labels { app: "shop".into(), browser: browser.into(), ..Labels::default() };
        Report::new(time, labels, coverage, Some(id), Some(0.1)).unwrap()
    }

    async fn reports(coverages: &Coverages, from: i64) -> Vec<(String, Coverage, u64, f64)> {
        let groups = coverages.read("shop", from, NOW + 1, GroupBy::Browser).await.unwrap();
        let rows = groups.into_iter().flat_map(|(group, sums)| {
            sums.into_iter().map(move |(kind, sum)| (group.clone(), kind, sum.reports, sum.sessions))
        });
        rows.collect()
    }

    #[tokio::test]
    async fn reports_count_once_and_are_kept_by_day() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::parse(folder.path().to_str().unwrap(), HashMap::new()).unwrap();
        let coverages = Coverages::open(&location).unwrap();
        let first = report("a", "Chrome 153", Coverage::Native, NOW - DAY);
        assert_eq!(
            coverages.add(&[first.clone(), first, report("b", "Firefox 140", Coverage::NoApi, NOW)]),
            2
        );
        let expected = vec![
            ("Chrome 153".to_owned(), Coverage::Native, 1, 10.0),
            ("Firefox 140".to_owned(), Coverage::NoApi, 1, 10.0),
        ];
        assert_eq!(reports(&coverages, NOW - DAY).await, expected);
        coverages.write(NOW).await.unwrap();
        assert_eq!(reports(&coverages, NOW - DAY).await, expected);
        assert_eq!(reports(&coverages, NOW).await, expected[1..]);

        // Another process adds to it.
        let other = Coverages::open(&location).unwrap();
        other.add(&[report("c", "Firefox 140", Coverage::NoApi, NOW)]);
        other.write(NOW).await.unwrap();
        assert_eq!(reports(&coverages, NOW).await[0].2, 2);
        assert!(coverages.read("blog", 0, NOW, GroupBy::Page).await.unwrap().is_empty());

        let retention = Retention { all: Some(Duration::from_secs(3_600)), ..Retention::default() };
        other.delete_old(&retention, NOW).await.unwrap();
        assert_eq!(reports(&other, 0).await, [("Firefox 140".to_owned(), Coverage::NoApi, 2, 20.0)]);
    }

    #[tokio::test]
    async fn senders_cannot_fill_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::parse(folder.path().to_str().unwrap(), HashMap::new()).unwrap();
        let coverages = Coverages::open(&location).unwrap();
        let many = MAX_KINDS + 100;
        for number in 0..many {
            coverages.add(&[report(&number.to_string(), &format!("Browser {number}"), Coverage::NoApi, NOW)]);
        }
        let rows = reports(&coverages, NOW).await;
        assert_eq!(rows.len(), MAX_KINDS + 1);
        assert_eq!((rows[0].0.as_str(), rows[0].2), ("", 100));
    }
}
