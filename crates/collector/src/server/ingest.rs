//! Profiles that pages send.

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use selfprof_store::log::AppendError;
use selfprof_store::profile::Profile;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::{Shared, body};
use crate::arguments::now;
use crate::upload::{Sender, Upload};

/// What the URL says.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    key: Option<String>,
}

/// What became of the profiles of a request.
#[derive(Debug, Default, Serialize)]
struct Taken {
    /// They are on the disk.
    accepted: usize,
    /// They were there already.
    known: usize,
    /// They are not taken in, for these reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<String>,
}

/// Profiles in one request.
const MAX_PROFILES: usize = 1_000;

/// Reasons that are told.
const MAX_REASONS: usize = 10;

/// Takes in the profiles of a request: one, or several after each other, as in JSON lines.
pub async fn profiles(
    State(state): State<Shared>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let result = take(&state, &parameters, &headers, body).await;
    match result {
        Ok(taken) => {
            state.metrics.took(taken.accepted, taken.known, taken.refused.len());
            let status = if taken.accepted + taken.known > 0 || taken.refused.is_empty() {
                StatusCode::ACCEPTED
            } else {
                StatusCode::BAD_REQUEST
            };
            (status, Json(taken)).into_response()
        }
        Err(problem) => {
            state.metrics.failed(problem.status());
            problem.into_response()
        }
    }
}

async fn take(
    state: &Shared,
    parameters: &Parameters,
    headers: &HeaderMap,
    body: Body,
) -> Result<Taken, Problem> {
    let sending = state.access.of_sender(parameters.key.as_deref(), headers)?;
    let (bytes, share) = body::read(&state.budget, headers, body, body::PROFILES).await?;
    let sender = Sender { app: sending.as_ref().map(|sending| sending.app.clone()), ..of_headers(headers) };
    // Large bodies take long to read; other requests go on meanwhile.
    let (profiles, mut refused) = tokio::task::block_in_place(|| parse(&bytes, &sender));
    drop(bytes);
    if let Some(sending) = &sending {
        sending.take(profiles.len())?;
    }
    let added = state.store.add(&profiles).await.map_err(|error| problem_of(&error))?;
    drop(share);
    refused.truncate(MAX_REASONS);
    Ok(Taken { accepted: added.new, known: added.known, refused })
}

/// The profiles in a body, and why others are not taken in.
fn parse(bytes: &[u8], sender: &Sender) -> (Vec<Profile>, Vec<String>) {
    let now = now();
    let (mut profiles, mut refused) = (Vec::new(), Vec::new());
    let uploads = serde_json::Deserializer::from_slice(bytes).into_iter::<Upload>();
    for (index, upload) in uploads.enumerate() {
        if index == MAX_PROFILES {
            refused.push(format!("more than {MAX_PROFILES} profiles in one request"));
            break;
        }
        let profile = upload.map_err(Into::into).and_then(|upload| upload.into_profile(now, sender));
        match profile {
            Ok(profile) => profiles.push(profile),
            Err(reason) => refused.push(format!("profile {}: {reason}", index + 1)),
        }
    }
    if profiles.is_empty() && refused.is_empty() {
        refused.push("the body is empty".into());
    }
    (profiles, refused)
}

fn problem_of(error: &AppendError) -> Problem {
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string());
    match error {
        AppendError::Full => problem.retry_after(60),
        _ => problem.retry_after(1),
    }
}

/// What the headers say of a browser. Addresses are not kept.
pub fn of_headers(headers: &HeaderMap) -> Sender {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let parsed = woothee::parser::Parser::new().parse(text(header::USER_AGENT.as_str()));
    let browser = parsed.as_ref().map(|browser| {
        let major = browser.version.split('.').next().unwrap_or_default();
        format!("{} {major}", browser.name).trim().to_owned()
    });
    let device = match parsed.as_ref().map(|browser| browser.category) {
        _ if text("sec-ch-ua-mobile") == "?1" => "phone",
        Some("smartphone" | "mobilephone") => "phone",
        Some("pc") => "desktop",
        _ => "",
    };
    let browser = browser.filter(|browser| !browser.starts_with("UNKNOWN")).unwrap_or_default();
    Sender { browser, device: device.into(), ..Sender::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_have_names_and_major_versions() {
        #[track_caller]
        fn check(agent: &str, expected: (&str, &str)) {
            let headers = HeaderMap::from_iter([(header::USER_AGENT, agent.parse().unwrap())]);
            let sender = of_headers(&headers);
            assert_eq!((sender.browser.as_str(), sender.device.as_str()), expected);
        }
        check(
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36",
            ("Chrome 153", "desktop"),
        );
        check(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
            ("Safari 18", "phone"),
        );
        check("", ("", ""));
        check("curl/8", ("HTTP Library curl", ""));
    }
}
