//! OTLP over HTTP: <https://opentelemetry.io/docs/specs/otlp/#otlphttp>.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::asked::Asked;
use super::intake::{self, Parsed, Request};
use super::problem::Problem;
use super::{Shared, body};
use crate::arguments::now;
use crate::otlp;

/// What the URL says.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    key: Option<String>,
}

const PROTOBUF: &str = "application/x-protobuf";

/// `POST /v1development/profiles`. The key is in the URL, or a token of the header `Authorization`.
pub async fn profiles(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let bearer = || headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ");
    let key = parameters.key.as_deref().or_else(bearer);
    let content =
        headers.get(header::CONTENT_TYPE).and_then(|content| content.to_str().ok()).unwrap_or(PROTOBUF);
    if content.split(';').next().is_none_or(|content| content.trim() != PROTOBUF) {
        let problem = Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "OTLP profiles are read as protocol buffers: set the exporter's protocol to http/protobuf",
        );
        state.metrics.failed(problem.status());
        return problem.into_response();
    }
    let request = Request { key, headers: &headers, body };
    let taken = intake::take(&state, request, body::OTLP, |bytes, sender| {
        let otlp::Read { profiles, refused } = otlp::read(bytes, now(), sender).map_err(Problem::bad)?;
        Ok(Parsed { profiles, refused, ..Parsed::default() })
    });
    match taken.await {
        Ok(taken) => {
            let response = partial_success(taken.refused_count, &taken.refused.join("; "));
            ([(header::CONTENT_TYPE, PROTOBUF)], response).into_response()
        }
        Err(problem) => as_status(problem),
    }
}

/// The message `ExportProfilesServiceResponse`: empty if all was taken in.
fn partial_success(rejected: usize, message: &str) -> Vec<u8> {
    if rejected == 0 {
        return Vec::new();
    }
    let mut partial = vec![0x08];
    push_varint(&mut partial, rejected);
    push_text(&mut partial, 2, message.as_bytes());
    let mut response = Vec::new();
    push_text(&mut response, 1, &partial);
    response
}

/// An answer that exporters understand: the message `google.rpc.Status`, with the problem as its text.
fn as_status(problem: Problem) -> Response {
    let mut status = Vec::new();
    push_text(&mut status, 2, problem.message().as_bytes());
    let mut response = problem.into_response();
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(PROTOBUF));
    *response.body_mut() = Body::from(status);
    response
}

/// Appends a field with a length.
fn push_text(message: &mut Vec<u8>, field: u8, text: &[u8]) {
    message.push(field << 3 | 2);
    push_varint(message, text.len());
    message.extend_from_slice(text);
}

fn push_varint(message: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}
