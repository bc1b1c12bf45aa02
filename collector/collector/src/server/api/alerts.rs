//! `GET /api/v1/alerts`

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::Parameters;
use crate::alerts::{AlertAnswer, Waiting};
use crate::server::Shared;
use crate::server::asked::Asked;
use crate::server::problem::Problem;

/// The regressions that the collector has found.
#[derive(Debug, Serialize)]
pub struct AlertsAnswer {
    version: u32,
    /// The newest first.
    alerts: Vec<AlertAnswer>,
    /// New releases that cannot be compared, with the reasons.
    waiting: Vec<Waiting>,
}

/// `GET /api/v1/alerts`
pub async fn alerts(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<AlertsAnswer>, Problem> {
    let app = parameters.selection()?.app;
    let alerts = state.watch.list(&app).await;
    let alerts = alerts.map_err(|error| Problem::failed("the alerts could not be read", &error))?;
    Ok(Json(AlertsAnswer { version: 1, alerts, waiting: state.watch.waiting(&app) }))
}
