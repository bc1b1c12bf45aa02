//! Questions and their answers.

mod alerts;
mod coverage;
mod profiles;
mod series;
mod spans;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use selfprof_significance::Settings;
use selfprof_store::filter::{Column, Filter, FilterError};
use selfprof_store::maps::MapError;
use selfprof_store::query::{Selection, StackSums};
use serde::Deserialize;

use super::asked::Asked;
use super::problem::Problem;
use super::{Shared, body};
use crate::answers::{AppsAnswer, DiffAnswer, FlameGraphAnswer, FunctionsAnswer, ValuesAnswer};
use crate::arguments::{Moment, now};
use crate::config::check_app;

pub use alerts::alerts;
pub use coverage::coverage;
pub use profiles::{profiles, timeline, trace};
pub use series::series;
pub use spans::{slow_spans, spans};

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
        let app = self.app.clone().ok_or_else(|| Problem::bad("app is missing: add ?app=... to the URL"))?;
        check_app(&app).map_err(Problem::bad)?;
        let now = now();
        let moment =
            |text: &str| text.parse::<Moment>().map(|moment| moment.resolve(now)).map_err(Problem::bad);
        let from = moment(self.from.as_deref().unwrap_or("-7d"))?;
        let to = self.to.as_deref().map_or(Ok(now.saturating_add(1)), moment)?;
        let filter: Filter = self
            .filter
            .as_deref()
            .unwrap_or_default()
            .parse()
            .map_err(|error| Problem::bad(format!("where: {error}")))?;
        Ok(Selection { app, from, to, filter })
    }

    fn top(&self) -> usize {
        self.top.unwrap_or(TOP).min(MAX_TOP)
    }
}

async fn sums(state: &Shared, parameters: &Parameters) -> Result<StackSums, Problem> {
    Ok(state.reader.stacks(&parameters.selection()?).await?)
}

/// `GET /api/v1/functions`
pub async fn functions(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<FunctionsAnswer>, Problem> {
    Ok(Json(FunctionsAnswer::of(&sums(&state, &parameters).await?, parameters.top())))
}

/// `GET /api/v1/flamegraph`
pub async fn flame_graph(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<FlameGraphAnswer>, Problem> {
    Ok(Json(FlameGraphAnswer::from(&sums(&state, &parameters).await?)))
}

/// `GET /api/v1/diff`
pub async fn diff(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<DiffAnswer>, Problem> {
    let both = parameters.selection()?;
    let side = |name: &str, condition: &Option<String>| -> Result<Selection, Problem> {
        let condition = condition.as_deref().filter(|condition| !condition.trim().is_empty());
        let condition = condition.ok_or_else(|| {
            Problem::bad(format!("{name} is missing: add a condition such as release = '1.4'"))
        })?;
        let filter: Filter = condition.parse().map_err(|error| Problem::bad(format!("{name}: {error}")))?;
        Ok(Selection { filter: both.filter.clone().and(filter), ..both.clone() })
    };
    let (base, new) = (side("base", &parameters.base)?, side("new", &parameters.new)?);
    let comparison = state.reader.compare(&base, &new, Settings::default()).await?;
    Ok(Json(DiffAnswer::of(&comparison, parameters.top())))
}

/// `GET /api/v1/apps`
pub async fn apps(State(state): State<Shared>) -> Result<Json<AppsAnswer>, Problem> {
    let mut apps = state.reader.apps().await?;
    // An application that cannot be profiled anywhere is one, too.
    match state.coverage.apps().await {
        Ok(covered) => apps.extend(covered),
        Err(error) => return Err(Problem::failed("the coverage could not be read", &error)),
    }
    apps.sort_unstable();
    apps.dedup();
    Ok(Json(AppsAnswer::of(apps)))
}

/// `GET /api/v1/values`
pub async fn values(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<ValuesAnswer>, Problem> {
    let column = parameters.column.as_deref();
    let column = column.ok_or_else(|| Problem::bad("column is missing: add &column=release to the URL"))?;
    let column: Column = column.parse().map_err(|error: FilterError| Problem::bad(error))?;
    Ok(Json(ValuesAnswer::of(state.reader.values(&parameters.selection()?, column).await?)))
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
    Asked(parameters): Asked<MapParameters>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    check_app(&parameters.app).map_err(Problem::bad)?;
    let (bytes, _share) = body::read(&state.budget, &headers, body, body::MAP).await?;
    let MapParameters { app, release, script } = &parameters;
    state.reader.maps().put(app, release, script, &bytes).await.map_err(|error| match error {
        MapError::Invalid(..) => Problem::bad(error),
        _ => Problem::failed("the map could not be kept", &error),
    })?;
    Ok(StatusCode::CREATED)
}
