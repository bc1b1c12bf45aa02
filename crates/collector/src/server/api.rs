//! Questions and their answers.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use selfprof_formats::w3c;
use selfprof_significance::Settings;
use selfprof_store::filter::{Column, Filter, FilterError};
use selfprof_store::ids::ProfileId;
use selfprof_store::maps::MapError;
use selfprof_store::query::{QueryError, Selection, StackSums};
use serde::Deserialize;

use super::problem::Problem;
use super::{Shared, body};
use crate::answers::{
    AppsAnswer, DiffAnswer, FlameGraphAnswer, FunctionsAnswer, ProfilesAnswer, ValuesAnswer,
};
use crate::arguments::{Moment, now};
use crate::config::check_app;

/// What is asked for.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    app: Option<String>,
    from: Option<String>,
    to: Option<String>,
    #[serde(rename = "where")]
    filter: Option<String>,
    /// The conditions of the two sides of a comparison.
    base: Option<String>,
    new: Option<String>,
    /// The column whose values are asked for.
    column: Option<String>,
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
        let moment = |text: &str| {
            text.parse::<Moment>().map(|moment| moment.resolve(now)).map_err(|error| bad(error.to_string()))
        };
        let from = moment(self.from.as_deref().unwrap_or("-7d"))?;
        let to = self.to.as_deref().map_or(Ok(now.saturating_add(1)), moment)?;
        let filter: Filter = self
            .filter
            .as_deref()
            .unwrap_or_default()
            .parse()
            .map_err(|error| bad(format!("where: {error}")))?;
        Ok(Selection { app, from, to, filter })
    }

    fn top(&self) -> usize {
        self.top.unwrap_or(TOP).min(MAX_TOP)
    }
}

/// When a question may be asked again, in seconds.
const RETRY: u32 = 5;

fn not_answered(error: &QueryError) -> Problem {
    // What failed is the operator's business.
    tracing::error!(%error, "a question was not answered");
    if matches!(error, QueryError::Cluster(_)) {
        return Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the machines that answer questions cannot be reached or are too slow; the collector's log says why",
        )
        .retry_after(RETRY);
    }
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the question could not be answered; the collector's log says why",
    )
}

async fn sums(state: &Shared, parameters: &Parameters) -> Result<StackSums, Problem> {
    let selection = parameters.selection()?;
    state.reader.stacks(&selection).await.map_err(|error| not_answered(&error))
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

/// `GET /api/v1/diff`
pub async fn diff(
    State(state): State<Shared>,
    Query(parameters): Query<Parameters>,
) -> Result<Json<DiffAnswer>, Problem> {
    let both = parameters.selection()?;
    let side = |name: &str, condition: &Option<String>| {
        let bad = |message: String| Problem::new(StatusCode::BAD_REQUEST, message);
        let condition = condition.as_deref().filter(|condition| !condition.trim().is_empty());
        let condition = condition
            .ok_or_else(|| bad(format!("{name} is missing: add a condition such as release = '1.4'")))?;
        let filter: Filter = condition.parse().map_err(|error| bad(format!("{name}: {error}")))?;
        Ok(Selection { filter: both.filter.clone().and(filter), ..both.clone() })
    };
    let (base, new) = (side("base", &parameters.base)?, side("new", &parameters.new)?);
    let comparison = state.reader.compare(&base, &new, Settings::default()).await;
    Ok(Json(DiffAnswer::of(&comparison.map_err(|error| not_answered(&error))?, parameters.top())))
}

/// `GET /api/v1/profiles`
pub async fn profiles(
    State(state): State<Shared>,
    Query(parameters): Query<Parameters>,
) -> Result<Json<ProfilesAnswer>, Problem> {
    let rows = state.reader.profiles(&parameters.selection()?, parameters.top()).await;
    Ok(Json(ProfilesAnswer::from(rows.map_err(|error| not_answered(&error))?)))
}

/// `GET /api/v1/profiles/ID`: the trace as the browser gave it, with the marks and measures as `entries`.
pub async fn trace(
    State(state): State<Shared>,
    Path(id): Path<String>,
    Query(parameters): Query<Parameters>,
) -> Result<impl IntoResponse, Problem> {
    let missing =
        || Problem::new(StatusCode::NOT_FOUND, "there is no such profile of this application in this period");
    let id = ProfileId::from_hex(&id).ok_or_else(missing)?;
    let trace =
        state.reader.trace(&parameters.selection()?, id).await.map_err(|error| not_answered(&error))?;
    let mut json = Vec::new();
    w3c::write(&trace.ok_or_else(missing)?, &mut json, w3c::WriteOptions::default()).map_err(|error| {
        tracing::error!(%error, "a trace was not written");
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the trace could not be written; the collector's log says why",
        )
    })?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json))
}

/// `GET /api/v1/apps`
pub async fn apps(State(state): State<Shared>) -> Result<Json<AppsAnswer>, Problem> {
    let apps = state.reader.apps().await.map_err(|error| not_answered(&error))?;
    Ok(Json(AppsAnswer::of(apps)))
}

/// `GET /api/v1/values`
pub async fn values(
    State(state): State<Shared>,
    Query(parameters): Query<Parameters>,
) -> Result<Json<ValuesAnswer>, Problem> {
    let bad = |message: String| Problem::new(StatusCode::BAD_REQUEST, message);
    let column = parameters.column.as_deref();
    let column = column.ok_or_else(|| bad("column is missing: add &column=release to the URL".into()))?;
    let column: Column = column.parse().map_err(|error: FilterError| bad(error.to_string()))?;
    let values = state.reader.values(&parameters.selection()?, column).await;
    Ok(Json(ValuesAnswer::of(values.map_err(|error| not_answered(&error))?)))
}

/// What the URL says of a source map.
#[derive(Debug, Deserialize)]
pub struct MapParameters {
    app: String,
    release: String,
    script: String,
}

/// `POST /api/v1/maps`
pub async fn put_map(
    State(state): State<Shared>,
    Query(parameters): Query<MapParameters>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    check_app(&parameters.app).map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.to_string()))?;
    let (bytes, _share) = body::read(&state.budget, &headers, body, body::MAP).await?;
    let MapParameters { app, release, script } = &parameters;
    state.reader.maps().put(app, release, script, &bytes).await.map_err(|error| match error {
        MapError::Invalid(..) => Problem::new(StatusCode::BAD_REQUEST, error.to_string()),
        _ => {
            tracing::error!(%error, "a source map was not kept");
            Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the map could not be kept; the collector's log says why",
            )
        }
    })?;
    Ok(StatusCode::CREATED)
}
