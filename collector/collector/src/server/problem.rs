//! Requests that are not answered as they ask.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use selfprof_store::query::QueryError;

/// Why a request is not answered as it asks.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    message: String,
    retry_after: Option<u32>,
}

impl Problem {
    /// A status with an explanation.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }

    /// 400: the request is not valid.
    pub fn bad(message: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message.to_string())
    }

    /// 500. What failed is the operator's business, and not the sender's.
    pub fn failed(what: &str, error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "{what}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{what}; the collector's log says why"))
    }

    /// When to try again, in seconds.
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The explanation.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

/// When a question may be asked again, in seconds.
const RETRY: u32 = 5;

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        let problem = Self::failed("the question could not be answered", &error);
        match error {
            QueryError::Cluster(_) => Self {
                status: StatusCode::SERVICE_UNAVAILABLE,
                message: "the machines that answer questions cannot be reached or are too slow; the collector's log says why".into(),
                retry_after: Some(RETRY),
            },
            _ => problem,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(serde_json::json!({ "error": self.message }))).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
