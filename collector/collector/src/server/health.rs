//! Whether the collector lives, and whether it does its work.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::Shared;
use super::problem::Problem;

/// The process answers.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Profiles reach the tables.
pub async fn readyz(State(state): State<Shared>) -> Response {
    match state.store.progress().problem {
        None => "ready\n".into_response(),
        Some(problem) => {
            tracing::debug!(problem, "not ready");
            let text = "profiles are kept in the log, because the tables cannot be written; the collector's log says why";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, text).into_response()
        }
    }
}
