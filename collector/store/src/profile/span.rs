//! What happened while a profile was recorded.

use serde::{Deserialize, Serialize};

/// A period of a profile with a name, or a point in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// What it is.
    pub kind: SpanKind,
    /// Its name; of an interaction, the type of the event.
    pub name: String,
    /// When it began, in microseconds, on the clock of the samples.
    pub start: i64,
    /// How long it was, in microseconds.
    pub duration: i64,
}

/// The kinds of spans: the types of performance entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SpanKind {
    /// `performance.mark()`, which has no duration.
    Mark,
    /// `performance.measure()`.
    Measure,
    /// A long task.
    LongTask,
    /// A long animation frame.
    LongFrame,
    /// An interaction: an entry of Event Timing.
    Event,
}

/// An interaction is slow above this, in microseconds: what Interaction to Next Paint calls good ends there.
pub const SLOW_INTERACTION: i64 = 200_000;

impl SpanKind {
    /// The type of a performance entry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Measure => "measure",
            Self::LongTask => "longtask",
            Self::LongFrame => "long-animation-frame",
            Self::Event => "event",
        }
    }

    /// The kind of a performance entry with this `entryType`, if it is one of these.
    pub fn of_entry_type(entry_type: &str) -> Option<Self> {
        Some(match entry_type {
            "mark" => Self::Mark,
            "measure" => Self::Measure,
            "longtask" => Self::LongTask,
            "long-animation-frame" => Self::LongFrame,
            "event" | "first-input" => Self::Event,
            _ => return None,
        })
    }
}

impl Span {
    /// The name by which samples during it are found, if they are: that of a measure, `(long task)`, `(long frame)` or
    /// `(slow interaction)`. A measure whose name begins like one of these has a space before it.
    pub fn label(&self) -> Option<String> {
        match self.kind {
            SpanKind::Mark => None,
            SpanKind::Measure if self.name.starts_with('(') => Some(format!(" {}", self.name)),
            SpanKind::Measure => Some(self.name.clone()),
            SpanKind::LongTask => Some("(long task)".into()),
            SpanKind::LongFrame => Some("(long frame)".into()),
            SpanKind::Event if self.duration > SLOW_INTERACTION => Some("(slow interaction)".into()),
            SpanKind::Event => None,
        }
    }
}
