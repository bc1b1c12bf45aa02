//! Questions and their answers.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use selfprof_store::filter::Filter;
use selfprof_store::query::{QueryError, Selection, StackSums};
use serde::Deserialize;

use super::Shared;
use crate::answers::{FlameGraphAnswer, FunctionsAnswer};
use crate::arguments::{Moment, now};
use crate::config::check_app;

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

    /// When to try again, in seconds.
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
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

/// What is asked for.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    app: Option<String>,
    from: Option<String>,
    to: Option<String>,
    #[serde(rename = "where")]
    filter: Option<String>,
    top: Option<usize>,
}

/// The rows of a table that are given, and the most that are.
const TOP: usize = 100;
const MAX_TOP: usize = 100_000;

impl Parameters {
    fn selection(&self) -> Result<Selection, Problem> {
        let bad = |message: String| Problem::new(StatusCode::BAD_REQUEST, message);
        let app = self.app.clone().ok_or_else(|| bad("app is missing: add ?app=... to the URL".into()))?;
        check_app(&app).map_err(|error| bad(error.to_string()))?;
        let now = now();
        let moment = |text: &str| text.parse::<Moment>().map(|moment| moment.resolve(now)).map_err(|error| bad(error.to_string()));
        let from = moment(self.from.as_deref().unwrap_or("-7d"))?;
        let to = self.to.as_deref().map_or(Ok(now.saturating_add(1)), moment)?;
        let filter: Filter =
            self.filter.as_deref().unwrap_or_default().parse().map_err(|error| bad(format!("where: {error}")))?;
        Ok(Selection { app, from, to, filter })
    }

    fn top(&self) -> usize {
        self.top.unwrap_or(TOP).min(MAX_TOP)
    }
}

async fn sums(state: &Shared, parameters: &Parameters) -> Result<StackSums, Problem> {
    let selection = parameters.selection()?;
    state.reader.stacks(&selection).await.map_err(|error: QueryError| {
        // What failed is the operator's business.
        tracing::error!(%error, "a question was not answered");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the question could not be answered; the collector's log says why")
    })
}

/// `GET /api/v1/functions`
pub async fn functions(
    State(state): State<Shared>,
    Query(parameters): Query<Parameters>,
) -> Result<Json<FunctionsAnswer>, Problem> {
    Ok(Json(FunctionsAnswer::of(&sums(&state, &parameters).await?, parameters.top())))
}

/// `GET /api/v1/flamegraph`
pub async fn flame_graph(
    State(state): State<Shared>,
    Query(parameters): Query<Parameters>,
) -> Result<Json<FlameGraphAnswer>, Problem> {
    Ok(Json(FlameGraphAnswer::from(&sums(&state, &parameters).await?)))
}
