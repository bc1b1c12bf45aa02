//! A transaction: the load of a page, or the way from one to the next, with what happened meanwhile as spans.

use selfprof_store::profile::{Span, SpanKind, clean_text};
use serde::Deserialize;

use super::number::Seconds;

/// A transaction.
#[derive(Debug, Deserialize)]
pub struct Transaction {
    /// By which a profile names it.
    pub event_id: Option<String>,
    /// Its name: a route or a path.
    #[serde(rename = "transaction")]
    pub name: Option<String>,
    #[serde(default)]
    spans: Vec<SentSpan>,
}

#[derive(Debug, Deserialize)]
struct SentSpan {
    op: Option<String>,
    description: Option<String>,
    /// `manual` for spans that the page has begun itself.
    origin: Option<String>,
    start_timestamp: Option<Seconds>,
    timestamp: Option<Seconds>,
}

impl Transaction {
    /// Its spans on a clock that is 0 at this time in seconds since 1970. Those of requests and of resources are left
    /// out.
    pub fn spans_since(&self, start: f64) -> Vec<Span> {
        self.spans.iter().filter_map(|span| span.since(start)).collect()
    }
}

impl SentSpan {
    fn kind(&self) -> Option<SpanKind> {
        Some(match self.op.as_deref().unwrap_or_default() {
            "mark" => SpanKind::Mark,
            "measure" => SpanKind::Measure,
            "ui.long-task" => SpanKind::LongTask,
            "ui.long-animation-frame" => SpanKind::LongFrame,
            op if op.starts_with("ui.interaction") => SpanKind::Event,
            _ if self.origin.as_deref().is_none_or(|origin| origin == "manual") => SpanKind::Measure,
            _ => return None,
        })
    }

    fn since(&self, start: f64) -> Option<Span> {
        let kind = self.kind()?;
        let name = match (kind, self.op.as_deref(), self.description.as_deref()) {
            // The description says which element, which differs from visit to visit.
            (SpanKind::Event, Some(op), _) => op.rsplit('.').next()?,
            (_, op, description) => description.or(op)?,
        };
        let (begin, end) = (self.start_timestamp?.0, self.timestamp?.0);
        // Too large numbers become the largest.
        let micros = |seconds: f64| (seconds * 1e6).round() as i64;
        Some(Span {
            kind,
            name: clean_text(name),
            start: micros(begin - start),
            duration: micros(end - begin).max(0),
        })
    }
}
