//! The deletion of a session.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

use super::Shared;
use super::asked::Asked;
use super::problem::Problem;
use crate::answers::DeletedAnswer;
use crate::config::check_app;

/// Which session.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    app: String,
    session: String,
}

/// How long the profiles that are still in the log may take on their way to the tables.
const FLUSH_TIME: Duration = Duration::from_secs(30);

/// `DELETE /api/v1/sessions`: deletes all profiles of a session that were accepted before.
pub async fn delete(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<DeletedAnswer>, Problem> {
    let Parameters { app, session } = &parameters;
    check_app(app).map_err(Problem::bad)?;
    if session.is_empty() {
        return Err(Problem::bad("session is empty: add &session=... to the URL"));
    }
    let later = |message| Problem::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(60);
    match tokio::time::timeout(FLUSH_TIME, state.store.flush()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(later(error.to_string().as_str())),
        Err(_) => {
            return Err(later("the last profiles do not get into the tables; the collector's log says why"));
        }
    }
    let deleted = state.keeper.delete_session(app, session).await;
    let deleted = deleted.ok_or_else(|| later("the collector is stopping"))?;
    let deleted = deleted.map_err(|error| Problem::failed("the session could not be deleted", &error))?;
    state.store.forget(&deleted.profiles);
    Ok(Json(DeletedAnswer::of(deleted.profiles.len() as u64)))
}
