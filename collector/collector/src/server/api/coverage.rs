//! `GET /api/v1/coverage`

use axum::Json;
use axum::extract::State;
use selfprof_store::coverage::GroupBy;
use serde::Deserialize;

use super::Parameters;
use crate::answers::coverage::CoverageAnswer;
use crate::server::Shared;
use crate::server::asked::Asked;
use crate::server::problem::Problem;

/// What the answer is grouped by.
#[derive(Debug, Deserialize)]
pub struct GroupParameter {
    by: Option<GroupBy>,
}

/// `GET /api/v1/coverage`: of whole days.
pub async fn coverage(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
    Asked(GroupParameter { by }): Asked<GroupParameter>,
) -> Result<Json<CoverageAnswer>, Problem> {
    let selection = parameters.selection()?;
    let by = by.unwrap_or(GroupBy::Browser);
    let groups = state.coverage.read(&selection.app, selection.from, selection.to, by).await;
    let groups = groups.map_err(|error| Problem::failed("the coverage could not be read", &error))?;
    Ok(Json(CoverageAnswer::of(groups, parameters.top())))
}
