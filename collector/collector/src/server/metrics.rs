//! Counts for Prometheus.

use std::time::UNIX_EPOCH;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::Shared;
use super::problem::Problem;

/// What has been counted since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    accepted: Counter,
    known: Counter,
    refused: Counter,
    unavailable: Counter,
    other_failures: Counter,
    /// The items of Sentry's envelopes, by their type.
    items: Family<[(&'static str, &'static str); 1], Counter>,
}

/// The types of items that Sentry's SDKs send. A label of a metric must not be any text.
const ITEMS: [&str; 16] = [
    "attachment",
    "check_in",
    "client_report",
    "event",
    "feedback",
    "log",
    "profile",
    "profile_chunk",
    "replay_event",
    "replay_recording",
    "session",
    "sessions",
    "span",
    "trace_metric",
    "transaction",
    "user_report",
];

impl Metrics {
    /// Counts an item of an envelope.
    pub fn got_item(&self, kind: &str) {
        let kind = ITEMS.into_iter().find(|&known| known == kind).unwrap_or("other");
        self.items.get_or_create(&[("type", kind)]).inc();
    }

    /// Counts the profiles of a request.
    pub fn took(&self, accepted: usize, known: usize, refused: usize) {
        self.accepted.inc_by(accepted as u64);
        self.known.inc_by(known as u64);
        self.refused.inc_by(refused as u64);
    }

    /// Counts a request that was not answered with 202.
    pub fn failed(&self, status: StatusCode) {
        let counter = if status.is_server_error() { &self.unavailable } else { &self.other_failures };
        counter.inc();
    }

    fn register(&self, registry: &mut Registry) {
        let mut counter = |name, help, counter: &Counter| registry.register(name, help, counter.clone());
        counter("profiles_accepted", "Profiles that are on the disk", &self.accepted);
        counter("profiles_known", "Profiles that were sent again", &self.known);
        counter("profiles_refused", "Profiles that were not taken in", &self.refused);
        counter("requests_unavailable", "Requests that were answered with 503", &self.unavailable);
        counter("requests_refused", "Requests that were answered with 4xx", &self.other_failures);
        for kind in ITEMS.into_iter().chain(["other"]) {
            drop(self.items.get_or_create(&[("type", kind)]));
        }
        registry.register("envelope_items", "Items of the envelopes of Sentry's SDKs", self.items.clone());
    }
}

/// What the store and its upkeep have done.
fn register_store(state: &Shared, registry: &mut Registry) {
    let (progress, done, backlog) = (state.store.progress(), state.keeper.done(), state.store.backlog());
    let mut counter = |name, help, value: u64| registry.register(name, help, ConstCounter::new(value));
    counter("profiles_stored", "Profiles that are in the tables", progress.profiles);
    counter("segments_stored", "Parts of the log that are in the tables", progress.segments);
    counter("records_damaged", "Records of the log that could not be read", progress.damaged);
    counter(
        "samples_without_stack",
        "Samples whose stack was replaced, because their application has too many",
        progress.without_stack,
    );
    counter("upkeep_runs", "Runs of the tables' upkeep", done.runs);
    counter("upkeep_runs_failed", "Runs of the tables' upkeep in which a part failed", done.failed_runs);
    counter("upkeep_files_merged", "Table files that were merged", done.merged.files);
    counter("upkeep_files_written", "Files into which others were merged", done.written.files);
    counter("upkeep_bytes_merged", "Bytes of the files that were merged", done.merged.bytes);
    counter("upkeep_bytes_written", "Bytes of the files into which others were merged", done.written.bytes);
    counter("upkeep_files_deleted", "Files that were deleted from the disk or bucket", done.deleted_files);
    counter("upkeep_days_removed", "Days of applications that were too old", done.removed_days);
    let mut gauge = |name, help, value: f64| registry.register(name, help, ConstGauge::new(value));
    gauge("log_waiting_segments", "Parts of the log that are not in the tables", backlog.segments as f64);
    gauge("log_waiting_bytes", "Bytes of the log that are not in the tables", backlog.bytes as f64);
    gauge(
        "log_waiting_age_seconds",
        "The age of the oldest part of the log that is not in the tables",
        backlog.oldest.unwrap_or_default().as_secs_f64(),
    );
    if let Some(time) = done.last_success.and_then(|time| time.duration_since(UNIX_EPOCH).ok()) {
        gauge(
            "upkeep_last_success_timestamp_seconds",
            "When the tables' upkeep last ended without a problem",
            time.as_secs_f64(),
        );
    }
}

/// The text format of OpenMetrics, which Prometheus reads.
const FORMAT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `GET /metrics`.
pub async fn metrics(State(state): State<Shared>) -> Result<impl IntoResponse, Problem> {
    let mut registry = Registry::with_prefix("selfprof");
    state.metrics.register(&mut registry);
    register_store(&state, &mut registry);
    state.watch.counts().register(&mut registry);
    let mut text = String::new();
    text::encode(&mut text, &registry)
        .map_err(|error| Problem::failed("the metrics could not be written", &error))?;
    Ok(([(header::CONTENT_TYPE, FORMAT)], text))
}
