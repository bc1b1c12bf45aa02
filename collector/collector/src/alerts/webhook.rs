//! Posts alerts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use reqwest::redirect::Policy;
use selfprof_store::alerts::{AlertError, Alerts, Posted};

use super::counts::Counts;
use super::message::AlertAnswer;

/// How long the receiver may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// After a failure, the next attempt is after this time, then after four times as long, and so on.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

/// Older alerts are not posted any more, in milliseconds.
const MAX_AGE: i64 = 24 * 3_600 * 1_000;

/// Where alerts are posted.
pub struct Webhook {
    client: reqwest::Client,
    url: String,
    /// Failed attempts, and when the next one is due, by the number of the alert.
    failures: HashMap<String, (u32, Instant)>,
}

impl Webhook {
    /// Posts to this URL and to no other: a receiver must not send alerts elsewhere.
    pub fn new(url: &str) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder().timeout(TIMEOUT).redirect(Policy::none()).build()?;
        Ok(Self { client, url: url.to_owned(), failures: HashMap::new() })
    }

    /// Posts the alerts of an application that were not posted, those first that were found first. `page` is the URL of
    /// the collector's page.
    pub async fn post(
        &mut self,
        alerts: &Alerts,
        app: &str,
        page: &str,
        now: i64,
        counts: &Counts,
    ) -> Result<(), AlertError> {
        let mut waiting = alerts.list(app).await?;
        waiting.retain(|(alert, posted)| *posted == Posted::No && alert.time > now / 1_000 - MAX_AGE);
        for (alert, _) in waiting.into_iter().rev() {
            let failed = self.failures.get(&alert.id).copied();
            if failed.is_some_and(|(_, next)| next > Instant::now()) || !alerts.begin_posting(&alert).await? {
                continue;
            }
            let is_posted = match self.send(AlertAnswer::of(alert.clone(), page, None)).await {
                Ok(()) => {
                    self.failures.remove(&alert.id);
                    counts.posted.inc();
                    true
                }
                Err(reason) => {
                    counts.failed_posts.inc();
                    let count = failed.map_or(0, |(count, _)| count);
                    let pause = FIRST_PAUSE.saturating_mul(4_u32.saturating_pow(count)).min(LONGEST_PAUSE);
                    tracing::warn!(
                        alert = alert.id,
                        "an alert was not posted ({reason}), next attempt in {pause:?}"
                    );
                    self.failures.insert(alert.id.clone(), (count + 1, Instant::now() + pause));
                    false
                }
            };
            alerts.end_posting(&alert, is_posted).await?;
        }
        Ok(())
    }

    /// When the next attempt is due.
    pub fn next(&self) -> Option<Instant> {
        self.failures.values().map(|&(_, next)| next).min()
    }

    /// Forgets alerts that are not posted any more.
    pub fn forget_old(&mut self) {
        let old = Instant::now().checked_sub(LONGEST_PAUSE);
        self.failures.retain(|_, &mut (_, next)| old.is_none_or(|old| next > old));
    }

    /// The reason of a failure does not have the URL, which may be a secret.
    async fn send(&self, answer: AlertAnswer) -> Result<(), String> {
        let body = serde_json::to_string(&answer).map_err(|error| error.to_string())?;
        let request = self.client.post(&self.url).header("content-type", "application/json");
        let request = request.header("idempotency-key", &answer.alert.id).body(body);
        let response = request.send().await.map_err(|error| error.without_url().to_string())?;
        if response.status().is_success() {
            Ok(())
        } else {
            Err(format!("the receiver answered {}", response.status()))
        }
    }
}
