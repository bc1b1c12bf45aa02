//! `GET /api/v1/spans`, `GET /api/v1/spans/slow`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

use super::Parameters;
use crate::answers::spans::{SlowSpansAnswer, SpansAnswer};
use crate::server::Shared;
use crate::server::asked::Asked;
use crate::server::problem::Problem;

/// Which spans.
#[derive(Debug, Deserialize)]
pub struct SpanParameter {
    span: Option<String>,
}

/// `GET /api/v1/spans`
pub async fn spans(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
) -> Result<Json<SpansAnswer>, Problem> {
    Ok(Json(state.reader.spans(&parameters.selection()?).await?.into()))
}

/// `GET /api/v1/spans/slow`
pub async fn slow_spans(
    State(state): State<Shared>,
    Asked(parameters): Asked<Parameters>,
    Asked(SpanParameter { span }): Asked<SpanParameter>,
) -> Result<Json<SlowSpansAnswer>, Problem> {
    let span = span.ok_or_else(|| Problem::bad("span is missing: add &span=... to the URL"))?;
    let both = state.reader.slow_spans(&parameters.selection()?, &span).await?;
    let both = both.ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "there is no such span in this period; /api/v1/spans lists them")
    })?;
    Ok(Json(SlowSpansAnswer::of(span, &both, parameters.top())))
}
