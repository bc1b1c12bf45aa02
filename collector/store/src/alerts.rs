//! Regressions that collectors have found by themselves, and what they have looked at: small files beside the tables.
//!
//! Several collectors may share them. What must happen once has a file that can be created once: who creates it does
//! it. If its process ends in the middle, nobody does it again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use deltalake::Path;
use deltalake::logstore::object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
};
use futures::TryStreamExt;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ids;
use crate::tables::{Location, TableError};

/// The alerts at a location.
pub struct Alerts {
    store: Arc<dyn ObjectStore>,
    /// Alerts never change.
    read: Mutex<HashMap<Path, Alert>>,
}

/// Which comparison finds the regressions of a release. It is fixed before the first look at any time, so that what the
/// times are does not change what is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The release before it.
    pub base: String,
    /// The pages.
    pub pages: Vec<String>,
}

/// A function that is slower in a release than in the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alert {
    /// The same for the same alert.
    pub id: String,
    /// When it was found, in milliseconds since 1970.
    pub time: i64,
    /// The application.
    pub app: String,
    /// The release before.
    pub base: String,
    /// The release.
    pub new: String,
    /// The function.
    pub name: String,
    /// Its file.
    pub resource: Option<String>,
    /// Where it is slower.
    pub pages: Vec<AlertPage>,
}

/// A page on which a function is slower. Times are in milliseconds, its own code in a mean session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AlertPage {
    /// The page.
    pub page: String,
    /// Before.
    pub base: f64,
    /// Now.
    pub new: f64,
    /// The difference, in which the longest sessions are scaled down.
    pub difference: f64,
    /// Where the difference lies with a probability of 95%.
    pub difference_interval: Option<(f64, f64)>,
    /// The p-value, corrected for the number of functions on the page.
    pub probability: f64,
    /// It had to be at most this, so that all looks at all pages together name an unchanged release in 5% of cases at
    /// most.
    pub limit: f64,
    /// How many sessions were compared.
    pub base_sessions: u64,
    /// Of the new release.
    pub new_sessions: u64,
}

/// Whether an alert was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// Not yet.
    No,
    /// It is being posted, or the process ended meanwhile.
    Maybe,
    /// Yes.
    Yes,
}

/// The files cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum AlertError {
    /// The place where they are.
    #[error("alerts cannot be kept or read: {0}")]
    Store(#[from] Error),
    /// The location.
    #[error(transparent)]
    Location(#[from] TableError),
    /// A file.
    #[error("a kept alert is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// Alerts that are listed, the newest.
const MAX_LISTED: usize = 200;

/// Files are deleted at this age. No release is new that long.
const MAX_AGE: Duration = Duration::from_secs(180 * 24 * 3_600);

impl Alerts {
    /// The alerts at a location.
    pub fn open(location: &Location) -> Result<Self, AlertError> {
        Ok(Self { store: location.store("alerts")?, read: Mutex::default() })
    }

    /// The plan of a release: this one, unless it has one.
    pub async fn plan(&self, app: &str, new: &str, plan: &Plan) -> Result<Plan, AlertError> {
        let path = folder(app, "plans").join(format!("{}.json", hash(&[app, new])));
        if self.create(&path, serde_json::to_vec(plan)?).await? {
            return Ok(plan.clone());
        }
        self.read(&path).await
    }

    /// The plan of a release, if it has one.
    pub async fn known_plan(&self, app: &str, new: &str) -> Result<Option<Plan>, AlertError> {
        let path = folder(app, "plans").join(format!("{}.json", hash(&[app, new])));
        match self.read(&path).await {
            Err(AlertError::Store(Error::NotFound { .. })) => Ok(None),
            plan => plan.map(Some),
        }
    }

    /// Whether this look at a page of a release is the caller's. It is nobody else's then, and not the caller's again.
    pub async fn take_look(&self, app: &str, new: &str, page: &str, look: u32) -> Result<bool, AlertError> {
        let name = format!("{}-{look}", hash(&[app, new, page]));
        self.create(&folder(app, "looks").join(name), Vec::new()).await
    }

    /// Whether nobody has found this function on this page of this release before.
    pub async fn take_finding(
        &self,
        app: &str,
        new: &str,
        page: &str,
        function: [&str; 2],
    ) -> Result<bool, AlertError> {
        let name = hash(&[app, new, page, function[0], function[1]]);
        self.create(&folder(app, "findings").join(name), Vec::new()).await
    }

    /// Keeps an alert.
    pub async fn add(&self, alert: &Alert) -> Result<(), AlertError> {
        let path = folder(&alert.app, "found").join(format!("{}.json", alert.id));
        self.create(&path, serde_json::to_vec(alert)?).await?;
        Ok(())
    }

    /// The alerts of an application and whether they were posted, the newest first.
    pub async fn list(&self, app: &str) -> Result<Vec<(Alert, Posted)>, AlertError> {
        let mut found: Vec<_> = self.store.list(Some(&folder(app, "found"))).try_collect().await?;
        found.sort_by(|a, b| b.last_modified.cmp(&a.last_modified).then_with(|| a.location.cmp(&b.location)));
        let (posting, posted) = (self.names(app, "posting").await?, self.names(app, "posted").await?);
        let mut alerts = Vec::new();
        for file in found.into_iter().take(MAX_LISTED) {
            let known = self.read.lock().get(&file.location).cloned();
            let alert = match known {
                Some(alert) => alert,
                None => {
                    let alert: Alert = self.read(&file.location).await?;
                    let mut read = self.read.lock();
                    if read.len() >= MAX_LISTED {
                        read.clear();
                    }
                    read.insert(file.location, alert.clone());
                    alert
                }
            };
            let state = match () {
                () if posted.contains(&alert.id) => Posted::Yes,
                () if posting.contains(&alert.id) => Posted::Maybe,
                () => Posted::No,
            };
            alerts.push((alert, state));
        }
        alerts.sort_by(|(a, _), (b, _)| b.time.cmp(&a.time).then_with(|| a.id.cmp(&b.id)));
        Ok(alerts)
    }

    /// Whether it is the caller who posts this alert now.
    pub async fn begin_posting(&self, alert: &Alert) -> Result<bool, AlertError> {
        self.create(&folder(&alert.app, "posting").join(alert.id.as_str()), Vec::new()).await
    }

    /// It was posted, or it was not, and may be tried again.
    pub async fn end_posting(&self, alert: &Alert, is_posted: bool) -> Result<(), AlertError> {
        if is_posted {
            self.create(&folder(&alert.app, "posted").join(alert.id.as_str()), Vec::new()).await?;
        } else {
            self.store.delete(&folder(&alert.app, "posting").join(alert.id.as_str())).await?;
        }
        Ok(())
    }

    /// Deletes what is so old that it cannot happen again.
    pub async fn delete_old(&self, app: &str, now: i64) -> Result<(), AlertError> {
        let oldest = now / 1_000 - i64::try_from(MAX_AGE.as_millis()).unwrap_or(i64::MAX);
        let files: Vec<_> = self.store.list(Some(&Path::from(format!("app={app}")))).try_collect().await?;
        for file in files.into_iter().filter(|file| file.last_modified.timestamp_millis() < oldest) {
            self.store.delete(&file.location).await?;
        }
        Ok(())
    }

    async fn names(&self, app: &str, kind: &str) -> Result<BTreeSet<String>, AlertError> {
        let files: Vec<_> = self.store.list(Some(&folder(app, kind))).try_collect().await?;
        Ok(files.iter().filter_map(|file| file.location.filename().map(str::to_owned)).collect())
    }

    /// Creates a file; false if it is there.
    async fn create(&self, path: &Path, bytes: Vec<u8>) -> Result<bool, AlertError> {
        let options = PutOptions::from(PutMode::Create);
        match self.store.put_opts(path, PutPayload::from(bytes), options).await {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<T, AlertError> {
        let bytes = self.store.get(path).await?.bytes().await?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

impl Alert {
    /// Its number: that of what it says, apart from times.
    pub fn number(app: &str, new: &str, function: [&str; 2], pages: &[AlertPage]) -> String {
        let mut texts = vec![app, new, function[0], function[1]];
        texts.extend(pages.iter().map(|page| page.page.as_str()));
        hash(&texts)
    }
}

fn folder(app: &str, kind: &str) -> Path {
    Path::from_iter([format!("app={app}"), kind.to_owned()])
}

/// A name for a file: texts may have any characters.
fn hash(texts: &[&str]) -> String {
    format!("{:016x}", ids::content(texts, &[]).0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn alert(page: &str) -> Alert {
        let page = AlertPage {
            page: page.into(),
            base: 1.0,
            new: 2.0,
            difference: 1.0,
            difference_interval: Some((0.5, 1.5)),
            probability: 0.001,
            limit: 0.002,
            base_sessions: 100,
            new_sessions: 100,
        };
        let id = Alert::number("shop", "2", ["f", "a.ts"], std::slice::from_ref(&page));
        let [app, base, new, name] = ["shop", "1", "2", "f"].map(String::from);
        Alert { id, time: 5, app, base, new, name, resource: Some("a.ts".into()), pages: vec![page] }
    }

    #[tokio::test]
    async fn what_must_happen_once_does() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::parse(folder.path().to_str().unwrap(), HashMap::new()).unwrap();
        let (one, other) = (Alerts::open(&location).unwrap(), Alerts::open(&location).unwrap());
        let plan = |page: &str| Plan { base: "1".into(), pages: vec![page.into()] };
        assert_eq!(one.known_plan("shop", "2").await.unwrap(), None);
        assert_eq!(one.plan("shop", "2", &plan("/a")).await.unwrap(), plan("/a"));
        assert_eq!(other.plan("shop", "2", &plan("/b")).await.unwrap(), plan("/a"));
        assert_eq!(other.known_plan("shop", "2").await.unwrap(), Some(plan("/a")));
        for (page, look, expected) in [("/", 0, true), ("/", 0, false), ("/", 1, true), ("/../x", 0, true)] {
            assert_eq!(other.take_look("shop", "2", page, look).await.unwrap(), expected);
        }
        assert!(one.take_finding("shop", "2", "/", ["f", ""]).await.unwrap());
        assert!(!other.take_finding("shop", "2", "/", ["f", ""]).await.unwrap());

        let (first, second) = (alert("/a"), alert("/b"));
        for alert in [&first, &second, &first] {
            one.add(alert).await.unwrap();
        }
        assert!(one.begin_posting(&first).await.unwrap() && !other.begin_posting(&first).await.unwrap());
        let state = async || {
            let mut states: Vec<_> = other.list("shop").await.unwrap();
            states.sort_by_key(|(alert, _)| alert.pages[0].page.clone());
            states.into_iter().map(|(_, state)| state).collect::<Vec<_>>()
        };
        assert_eq!(state().await, [Posted::Maybe, Posted::No]);
        one.end_posting(&first, false).await.unwrap();
        assert!(other.begin_posting(&first).await.unwrap());
        other.end_posting(&first, true).await.unwrap();
        assert_eq!(state().await, [Posted::Yes, Posted::No]);
        assert!(other.list("other").await.unwrap().is_empty());
        let later = chrono::Utc::now().timestamp_micros() + 181 * 86_400_000_000;
        one.delete_old("shop", later).await.unwrap();
        assert!(Alerts::open(&location).unwrap().list("shop").await.unwrap().is_empty());
    }
}
