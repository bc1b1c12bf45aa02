//! What all ways for profiles into the collector have in common.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use selfprof_store::coverage::Report;
use selfprof_store::log::AppendError;
use selfprof_store::profile::Profile;
use serde::Serialize;

use super::Shared;
use super::body::{self, Largest};
use super::problem::Problem;
use crate::upload::Sender;

/// A request with profiles.
pub struct Request<'a> {
    /// The key that it names.
    pub key: Option<&'a str>,
    pub headers: &'a HeaderMap,
    pub body: Body,
}

/// What a body has.
#[derive(Default)]
pub struct Parsed {
    pub profiles: Vec<Profile>,
    /// How sessions are profiled, or why they cannot be.
    pub coverage: Vec<Report>,
    /// Why others are not taken in.
    pub refused: Vec<String>,
}

impl Parsed {
    /// Whether there is nothing in it, not even a mistake.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.coverage.is_empty() && self.refused.is_empty()
    }
}

/// What became of the profiles of a request.
#[derive(Debug, Default, Serialize)]
pub struct Taken {
    /// They are on the disk.
    pub accepted: usize,
    /// They were there already.
    pub known: usize,
    /// How many were no profiles, but say how a session is profiled, or why it cannot be.
    #[serde(skip_serializing_if = "is_zero")]
    pub coverage: usize,
    /// They are not taken in, for these reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// How many those are.
    #[serde(skip)]
    pub refused_count: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Taken {
    /// Whether nothing is there, because nothing could be taken in.
    pub fn is_refused(&self) -> bool {
        self.accepted + self.known + self.coverage == 0 && !self.refused.is_empty()
    }
}

/// Reasons that are told.
const MAX_REASONS: usize = 10;

/// Takes in the profiles of a request; returns when they are on the disk.
pub async fn take(
    state: &Shared,
    request: Request<'_>,
    largest: Largest,
    parse: impl FnOnce(&[u8], &Sender) -> Result<Parsed, Problem>,
) -> Result<Taken, Problem> {
    let taken = take_in(state, request, largest, parse).await;
    match &taken {
        Ok(taken) => state.metrics.took(taken.accepted, taken.known, taken.refused_count),
        Err(problem) => state.metrics.failed(problem.status()),
    }
    taken
}

async fn take_in(
    state: &Shared,
    Request { key, headers, body }: Request<'_>,
    largest: Largest,
    parse: impl FnOnce(&[u8], &Sender) -> Result<Parsed, Problem>,
) -> Result<Taken, Problem> {
    let sending = state.access.of_sender(key, headers)?;
    let (bytes, share) = body::read(&state.budget, headers, body, largest).await?;
    let sender = Sender { app: sending.as_ref().map(|sending| sending.app.clone()), ..of_headers(headers) };
    // Large bodies take long to read; other requests go on meanwhile.
    let Parsed { profiles, coverage, mut refused } = tokio::task::block_in_place(|| parse(&bytes, &sender))?;
    drop(bytes);
    if let Some(sending) = &sending {
        sending.take(profiles.len() + coverage.len())?;
    }
    let added = state.store.add(&profiles).await.map_err(|error| problem_of(&error))?;
    state.coverage.add(&coverage);
    drop(share);
    let refused_count = refused.len();
    refused.truncate(MAX_REASONS);
    Ok(Taken { accepted: added.new, known: added.known, coverage: coverage.len(), refused, refused_count })
}

fn problem_of(error: &AppendError) -> Problem {
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string());
    match error {
        AppendError::Full => problem.retry_after(60),
        _ => problem.retry_after(1),
    }
}

/// What the headers say of a browser. Addresses are not kept.
fn of_headers(headers: &HeaderMap) -> Sender {
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
