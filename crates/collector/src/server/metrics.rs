//! Counts for Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use super::Shared;

/// What has been counted since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    accepted: AtomicU64,
    known: AtomicU64,
    refused: AtomicU64,
    unavailable: AtomicU64,
    other_failures: AtomicU64,
}

impl Metrics {
    /// Counts the profiles of a request.
    pub fn took(&self, accepted: usize, known: usize, refused: usize) {
        self.accepted.fetch_add(accepted as u64, Ordering::Relaxed);
        self.known.fetch_add(known as u64, Ordering::Relaxed);
        self.refused.fetch_add(refused as u64, Ordering::Relaxed);
    }

    /// Counts a request that was not answered with 202.
    pub fn failed(&self, status: StatusCode) {
        let counter = if status.is_server_error() { &self.unavailable } else { &self.other_failures };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// `GET /metrics`, in the text format of Prometheus.
pub async fn metrics(State(state): State<Shared>) -> impl IntoResponse {
    let counts = &state.metrics;
    let progress = state.store.progress();
    let mut text = String::new();
    let mut counter = |name: &str, help: &str, value: u64| {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n");
    };
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    counter("selfprof_profiles_accepted_total", "Profiles that are on the disk.", load(&counts.accepted));
    counter("selfprof_profiles_known_total", "Profiles that were sent again.", load(&counts.known));
    counter("selfprof_profiles_refused_total", "Profiles that were not taken in.", load(&counts.refused));
    counter(
        "selfprof_requests_unavailable_total",
        "Requests that were answered with 503.",
        load(&counts.unavailable),
    );
    counter(
        "selfprof_requests_refused_total",
        "Requests that were answered with 4xx.",
        load(&counts.other_failures),
    );
    counter("selfprof_profiles_stored_total", "Profiles that are in the tables.", progress.profiles);
    counter("selfprof_segments_stored_total", "Parts of the log that are in the tables.", progress.segments);
    counter("selfprof_records_damaged_total", "Records of the log that could not be read.", progress.damaged);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
