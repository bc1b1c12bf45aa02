//! Profiles that pages send.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::asked::Asked;
use super::intake::{self, Parsed, Request};
use super::{Shared, body};
use crate::arguments::now;
use crate::upload::{Sender, Sending, Upload};

/// What the URL says.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    key: Option<String>,
}

/// Profiles in one request.
const MAX_PROFILES: usize = 1_000;

/// Takes in the profiles of a request: one, or several after each other, as in JSON lines.
pub async fn profiles(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let request = Request { key: parameters.key.as_deref(), headers: &headers, body };
    let taken = intake::take(&state, request, body::PROFILES, |bytes, sender| Ok(parse(bytes, sender)));
    match taken.await {
        Ok(taken) if taken.is_refused() => (StatusCode::BAD_REQUEST, Json(taken)).into_response(),
        Ok(taken) => (StatusCode::ACCEPTED, Json(taken)).into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// The profiles in a body, and why others are not taken in.
fn parse(bytes: &[u8], sender: &Sender) -> Parsed {
    let now = now();
    let mut parsed = Parsed::default();
    // First only where each ends, so that one that cannot be read does not hide those after it.
    let uploads = serde_json::Deserializer::from_slice(bytes).into_iter::<&RawValue>();
    for (index, upload) in uploads.enumerate() {
        if index == MAX_PROFILES {
            parsed.refused.push(format!("more than {MAX_PROFILES} profiles in one request"));
            break;
        }
        let upload = upload.and_then(|upload| serde_json::from_str::<Upload>(upload.get()));
        match upload.map_err(Into::into).and_then(|upload| upload.read(now, sender)) {
            Ok(Sending::Profile(profile)) => parsed.profiles.push(*profile),
            Ok(Sending::Coverage(report)) => parsed.coverage.push(report),
            Err(reason) => parsed.refused.push(format!("profile {}: {reason}", index + 1)),
        }
    }
    if parsed.is_empty() {
        parsed.refused.push("the body is empty".into());
    }
    parsed
}
