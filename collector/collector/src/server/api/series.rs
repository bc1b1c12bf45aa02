//! `GET /api/v1/series`

use axum::Json;
use axum::extract::State;
use selfprof_store::query::series::{MAX_POINTS, Step};
use serde::Deserialize;

use super::Parameters;
use crate::answers::series::SeriesAnswer;
use crate::server::Shared;
use crate::server::asked::Asked;
use crate::server::problem::Problem;

/// How the period is divided.
#[derive(Debug, Deserialize)]
pub struct StepParameter {
    step: Option<String>,
}

/// `GET /api/v1/series`
pub async fn series(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
    Asked(StepParameter { step }): Asked<StepParameter>,
) -> Result<Json<SeriesAnswer>, Problem> {
    let selection = parameters.selection()?;
    let step = match step.as_deref() {
        None => Step::for_period(selection.to.saturating_sub(selection.from)),
        Some("hour") => Step::Hour,
        Some("day") => Step::Day,
        Some(_) => return Err(Problem::bad("step is neither hour nor day")),
    };
    let points = step.points(&selection);
    if points > MAX_POINTS {
        let name = step.as_str();
        return Err(Problem::bad(format!(
            "the period has {points} {name}s, more than {MAX_POINTS}: choose a shorter one, or step=day"
        )));
    }
    Ok(Json(state.reader.series(&selection, step, parameters.top()).await?.into()))
}
