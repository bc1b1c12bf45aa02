//! Requests to a collector.

use std::env;
use std::time::Duration;

use selfprof_http::{Client, Request, StatusCode, TimeLimits};

use super::address::Address;
use crate::failure::Failure;

/// Collectors answer in seconds.
const TIME: TimeLimits = TimeLimits {
    connect: Duration::from_secs(10),
    whole: Duration::from_secs(120),
    body: Duration::from_secs(120),
};

/// The longest answer, in bytes.
const MAX_ANSWER: u64 = 512 << 20;

/// The environment variable with the token.
const TOKEN: &str = "SELFPROF_COLLECTOR_TOKEN";

/// The answer to a path of the collector.
pub fn get(address: &Address, path: &str) -> Result<Vec<u8>, Failure> {
    let mut request = Request::new(address.url(path));
    if let Some(token) = env::var(TOKEN).ok().filter(|token| !token.is_empty()) {
        request.private.insert("authorization".to_owned(), format!("Bearer {token}"));
    }
    let authority = address.authority();
    let answer = Client::new(TIME)
        .get(&request)
        .and_then(|response| Ok((response.status, response.read(MAX_ANSWER)?)));
    let (status, body) = answer.map_err(|error| {
        Failure::job(format!("cannot ask the collector at {authority}"))
            .hint("`selfprof-collector serve` starts one")
            .because_of_request(&error)
    })?;
    if status.is_success() {
        return Ok(body);
    }
    let json: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let reason = json["error"].as_str().map_or_else(|| status.to_string(), str::to_owned);
    let failure = Failure::job(format!("the collector at {authority} does not answer this: {reason}"));
    Err(match status {
        StatusCode::UNAUTHORIZED => {
            failure.hint(format!("set {TOKEN} to a token of the collector's settings"))
        }
        StatusCode::NOT_FOUND => failure
            .hint(format!("is {authority} a collector? Its URL is what `selfprof-collector serve` prints")),
        _ => failure,
    })
}
