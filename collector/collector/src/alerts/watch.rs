//! The task that looks for regressions, beside everything else.

use std::collections::BTreeMap;
use std::time::Instant;

use parking_lot::Mutex;
use selfprof_significance::Verdict;
use selfprof_store::alerts::{Alert, AlertError, AlertPage, Alerts, Plan, Posted};
use selfprof_store::filter::{Column, Filter};
use selfprof_store::query::comparison::Comparison;
use selfprof_store::query::{QueryError, Reader, ReleasePage, Selection};
use serde::Serialize;
use tokio::sync::watch;

use super::counts::Counts;
use super::decisions::{self, LOOKBACK};
use super::message::AlertAnswer;
use super::webhook::Webhook;
use crate::arguments::now;
use crate::config;

/// Finds regressions, and knows those that were found.
pub struct Watch {
    settings: config::Alerts,
    alerts: Alerts,
    /// By application: the releases that cannot be compared yet.
    waiting: Mutex<BTreeMap<String, Vec<Waiting>>>,
    counts: Counts,
}

/// A release that has enough sessions, but cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The release.
    pub release: String,
    /// The one before.
    pub base: String,
    /// Why not.
    pub reason: String,
}

/// Alerts are not found.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Alerts(#[from] AlertError),
}

/// By function: the pages on which it is slower.
type Found = BTreeMap<(String, String), Vec<AlertPage>>;

impl Watch {
    /// With these settings, and alerts at a location.
    pub fn new(settings: config::Alerts, alerts: Alerts) -> Self {
        Self { settings, alerts, waiting: Mutex::default(), counts: Counts::default() }
    }

    /// What it has done.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The alerts of an application, the newest first.
    pub async fn list(&self, app: &str) -> Result<Vec<AlertAnswer>, AlertError> {
        let has_webhook = self.settings.webhook.is_some();
        let answer =
            |(alert, posted): (Alert, Posted)| AlertAnswer::of(alert, "", has_webhook.then_some(posted));
        Ok(self.alerts.list(app).await?.into_iter().map(answer).collect())
    }

    /// The new releases of an application that cannot be compared.
    pub fn waiting(&self, app: &str) -> Vec<Waiting> {
        self.waiting.lock().get(app).cloned().unwrap_or_default()
    }

    /// Looks again and again, until it is to stop. `page` is the URL of the collector's page.
    pub async fn run(&self, reader: &Reader, page: &str, mut stop: watch::Receiver<()>) {
        if !self.settings.enabled {
            return;
        }
        let page = self.settings.page.as_deref().unwrap_or(page).trim_end_matches('/');
        let mut webhook = match self.settings.webhook.as_deref().map(Webhook::new).transpose() {
            Ok(webhook) => webhook,
            Err(error) => {
                tracing::error!("alerts cannot be posted: {}", error.without_url());
                None
            }
        };
        let mut next_look = Instant::now() + self.settings.every;
        loop {
            let retry = webhook.as_ref().and_then(Webhook::next).unwrap_or(next_look);
            tokio::select! {
                // Its sender is gone, too, when the server has ended.
                _ = stop.changed() => return,
                () = tokio::time::sleep_until(next_look.min(retry).into()) => {}
            }
            if Instant::now() >= next_look {
                let is_complete = self.look(reader).await;
                self.counts.searches.inc();
                self.counts.failed_searches.inc_by(u64::from(!is_complete));
                next_look = Instant::now() + self.settings.every;
            }
            if let Some(webhook) = &mut webhook {
                self.post(reader, webhook, page).await;
            }
        }
    }

    /// Looks at all applications. What fails is tried again the next time. Returns whether nothing failed.
    async fn look(&self, reader: &Reader) -> bool {
        let apps = match reader.apps().await {
            Ok(apps) => apps,
            Err(error) => {
                tracing::warn!("no regression can be found: {error}");
                return false;
            }
        };
        let mut is_complete = true;
        for app in apps {
            if let Err(error) = self.look_at(reader, &app).await {
                tracing::warn!(app, "no regression can be found: {error}");
                is_complete = false;
            }
        }
        is_complete
    }

    async fn post(&self, reader: &Reader, webhook: &mut Webhook, page: &str) {
        webhook.forget_old();
        for app in reader.apps().await.unwrap_or_default() {
            if let Err(error) = webhook.post(&self.alerts, &app, page, now(), &self.counts).await {
                tracing::warn!(app, "alerts cannot be posted: {error}");
            }
        }
    }

    async fn look_at(&self, reader: &Reader, app: &str) -> Result<(), WatchError> {
        let now = now();
        let all = Selection {
            app: app.to_owned(),
            from: now.saturating_sub(LOOKBACK),
            to: now.saturating_add(1),
            filter: Filter::All,
        };
        let rows = reader.release_pages(&all).await?;
        let mut waiting = Vec::new();
        for new in decisions::new_releases(&rows, all.from) {
            let known = self.alerts.known_plan(app, &new).await?;
            let Some(plan) = known.or_else(|| decisions::plan(&rows, &new, self.settings.min_sessions))
            else {
                continue;
            };
            if let Some(reason) = self.look_at_release(reader, &all, &rows, &new, &plan).await? {
                waiting.push(Waiting { release: new, base: plan.base, reason });
            }
        }
        self.waiting.lock().insert(app.to_owned(), waiting);
        self.alerts.delete_old(app, now).await?;
        Ok(())
    }

    /// Compares the pages of a release that have enough sessions for the next look. Returns why it cannot.
    async fn look_at_release(
        &self,
        reader: &Reader,
        all: &Selection,
        rows: &[ReleasePage],
        new: &str,
        plan: &Plan,
    ) -> Result<Option<String>, WatchError> {
        let due: Vec<(&String, u32)> = plan
            .pages
            .iter()
            .filter_map(|page| {
                let sessions =
                    decisions::sessions(rows, &plan.base, page).min(decisions::sessions(rows, new, page));
                Some((page, decisions::look(sessions, self.settings.min_sessions)?))
            })
            .collect();
        if due.is_empty() {
            return Ok(None);
        }
        let of_release = |release: &str, page: Option<&str>| {
            let mut filter = Filter::OneOf(Column::Release, vec![release.to_owned()]);
            if let Some(page) = page {
                filter = filter.and(Filter::OneOf(Column::Page, vec![page.to_owned()]));
            }
            Selection { filter, ..all.clone() }
        };
        // Functions that cannot be matched would all seem to be new. A look that is not taken can be taken when there
        // are maps.
        for release in [plan.base.as_str(), new] {
            if let Some(minified) = reader.minified(&of_release(release, None)).await?.first() {
                return Ok(Some(format!(
                    "{} of the {} functions of release {release} have minified names and no source map",
                    minified.minified, minified.functions
                )));
            }
        }
        let plan = self.alerts.plan(&all.app, new, plan).await?;
        let limit = decisions::limit(&plan);
        let mut found = Found::new();
        for (page, look) in due {
            if !plan.pages.contains(page) || !self.alerts.take_look(&all.app, new, page, look).await? {
                continue;
            }
            let [base, after] = [plan.base.as_str(), new].map(|release| of_release(release, Some(page)));
            let comparison = reader.compare(&base, &after, decisions::settings(limit)).await?;
            self.counts.comparisons.inc();
            tracing::info!(
                app = all.app,
                page,
                "release {new} was compared with {}: {} and {} sessions",
                plan.base,
                comparison.new.sessions,
                comparison.base.sessions
            );
            self.collect(&comparison, (&all.app, new, page), limit, &mut found).await?;
        }
        self.keep(&all.app, &plan.base, new, found).await?;
        Ok(None)
    }

    /// The functions that are slower on a page, and were not found before.
    async fn collect(
        &self,
        comparison: &Comparison,
        (app, new, page): (&str, &str, &str),
        limit: f64,
        found: &mut Found,
    ) -> Result<(), AlertError> {
        for row in &comparison.functions {
            let time = &row.self_time;
            let probability = time.adjusted_p.filter(|&p| p <= limit && time.verdict == Verdict::Slower);
            let Some(probability) = probability else { continue };
            let function = [row.function.name.as_str(), row.function.file.as_str()];
            if !self.alerts.take_finding(app, new, page, function).await? {
                continue;
            }
            let millis = |micros: f64| micros / 1_000.0;
            found.entry((row.function.name.clone(), row.function.file.clone())).or_default().push(
                AlertPage {
                    page: page.to_owned(),
                    base: millis(time.base.mean_us),
                    new: millis(time.new.mean_us),
                    difference: millis(time.difference_us),
                    difference_interval: time
                        .difference_interval_us
                        .map(|interval| (millis(interval.low), millis(interval.high))),
                    probability,
                    limit,
                    base_sessions: comparison.base.sessions,
                    new_sessions: comparison.new.sessions,
                },
            );
        }
        Ok(())
    }

    /// One alert for each function, with all its pages.
    async fn keep(&self, app: &str, base: &str, new: &str, found: Found) -> Result<(), AlertError> {
        for ((name, file), mut pages) in found {
            pages.sort_by(|a, b| b.difference.total_cmp(&a.difference));
            let alert = Alert {
                id: Alert::number(app, new, [&name, &file], &pages),
                time: now() / 1_000,
                app: app.to_owned(),
                base: base.to_owned(),
                new: new.to_owned(),
                name,
                resource: (!file.is_empty()).then_some(file),
                pages,
            };
            self.alerts.add(&alert).await?;
            self.counts.found.inc();
            let AlertAnswer { text, .. } = AlertAnswer::of(alert, "", None);
            tracing::warn!("{text}");
        }
        Ok(())
    }
}
