//! Single profiles.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use selfprof_formats::w3c;
use selfprof_store::ids::ProfileId;
use selfprof_store::query::ProfileOrder;
use serde::Deserialize;

use super::Parameters;
use crate::answers::profiles::ProfilesAnswer;
use crate::answers::timeline::TimelineAnswer;
use crate::server::Shared;
use crate::server::asked::{Asked, PathPart};
use crate::server::problem::Problem;

/// Which come first.
#[derive(Debug, Deserialize)]
pub struct OrderParameter {
    order: Option<String>,
}

/// `GET /api/v1/profiles`
pub async fn profiles(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
    Asked(OrderParameter { order }): Asked<OrderParameter>,
) -> Result<Json<ProfilesAnswer>, Problem> {
    let order = match order.as_deref() {
        None | Some("newest") => ProfileOrder::Newest,
        Some("longest") => ProfileOrder::Longest,
        Some("median") => ProfileOrder::Median,
        Some(_) => return Err(Problem::bad("order is none of newest, longest and median")),
    };
    let rows = state.reader.profiles(&parameters.selection()?, order, parameters.top()).await?;
    Ok(Json(ProfilesAnswer::from(rows)))
}

fn missing() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is no such profile of this application in this period")
}

/// `GET /api/v1/profiles/ID`: the trace as the browser gave it, with the marks and measures as `entries`.
pub async fn trace(
    State(state): State<Shared>,
    PathPart(id): PathPart,
    Asked(parameters): Asked<Parameters>,
) -> Result<impl IntoResponse, Problem> {
    let id = ProfileId::from_hex(&id).ok_or_else(missing)?;
    let trace = state.reader.trace(&parameters.selection()?, id).await?;
    let mut json = Vec::new();
    w3c::write(&trace.ok_or_else(missing)?, &mut json, w3c::WriteOptions::default())
        .map_err(|error| Problem::failed("the trace could not be written", &error))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json))
}

/// `GET /api/v1/profiles/ID/timeline`: what the page shows of a profile, with the functions of the sources.
pub async fn timeline(
    State(state): State<Shared>,
    PathPart(id): PathPart,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<TimelineAnswer>, Problem> {
    let id = ProfileId::from_hex(&id).ok_or_else(missing)?;
    let profile = state.reader.readable_profile(&parameters.selection()?, id).await?;
    Ok(Json(TimelineAnswer::of(profile.ok_or_else(missing)?)))
}
