//! Envelopes of Sentry's SDKs: <https://develop.sentry.dev/sdk/data-model/envelopes/>.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::intake::{self, Parsed, Request, Taken};
use super::problem::Problem;
use super::{Shared, body};
use crate::arguments::now;
use crate::sentry;

/// What the URL says.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    /// The public key of the DSN.
    sentry_key: Option<String>,
}

/// The answer. SDKs read the id.
#[derive(Debug, Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(flatten)]
    taken: Taken,
}

/// `POST /api/PROJECT/envelope/`. The key says which application it is, and not the number of the project. Without
/// settings, the key is the name of the application.
pub async fn envelope(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let key = parameters.sentry_key.or_else(|| key_of_header(&headers));
    let mut id = None;
    let request = Request { key: key.as_deref(), headers: &headers, body };
    let taken = intake::take(&state, request, body::PROFILES, |bytes, sender| {
        let app = sender.app.as_deref().or(key.as_deref());
        let app = app.ok_or_else(|| Problem::bad("the key is missing: a DSN is http://APP@HOST:PORT/1"))?;
        let app = sender.app_of(Some(app)).map_err(Problem::bad)?;
        let read = sentry::read(bytes, &app, now(), sender).map_err(Problem::bad)?;
        read.types.iter().for_each(|kind| state.metrics.got_item(kind));
        id = read.event_id;
        Ok(Parsed { profiles: read.profiles, refused: read.refused, ..Parsed::default() })
    });
    match taken.await {
        Ok(taken) => {
            let status = if taken.is_refused() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
            (status, Json(Answer { id, taken })).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

/// The key in `X-Sentry-Auth: Sentry sentry_version=7, sentry_key=...`.
fn key_of_header(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("x-sentry-auth")?.to_str().ok()?;
    let value = value.strip_prefix("Sentry ").unwrap_or(value);
    let key = value.split(',').find_map(|part| part.trim().strip_prefix("sentry_key="))?;
    Some(key.to_owned())
}
