//! The arithmetic of `measure()`.

use std::fmt;

use crate::{HighResTime, NameId, PerformanceTiming, TimingAttribute};

/// A start or end that a script gave to `measure()`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bound {
    /// Not given.
    #[default]
    Omitted,
    /// A string: the latest mark with this name.
    Mark(NameId),
    /// A string that was never interned as a name, so that there is no such mark.
    UnknownName,
    /// A number.
    Time(HighResTime),
    /// A string that is also the name of an attribute of `PerformanceTiming`.
    Attribute(TimingAttribute),
}

/// What a script passed to `measure()`, as arguments or as members of `PerformanceMeasureOptions`.
///
/// The caller checks that no end mark is given together with options, and that options have a start or an end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Where the measure starts; at the time origin when omitted.
    pub start: Bound,
    /// Where it ends; now when omitted.
    pub end: Bound,
    /// Its duration, when that is given in place of one of the two.
    pub duration: Option<HighResTime>,
}

/// The start and the duration of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Its `startTime`.
    pub start: HighResTime,
    /// Its `duration`, which is negative when it ends before it starts.
    pub duration: HighResTime,
}

impl Bounds {
    /// Runs the steps "compute end time" and "compute start time" of
    /// [`measure()`](https://w3c.github.io/user-timing/#dom-performance-measure), in that order.
    ///
    /// `latest_mark` returns the start of the latest mark with a name; `now` is called only if it is needed. Without
    /// `timing` there is no window.
    #[inline]
    pub(crate) fn resolve(
        &self,
        timing: Option<&PerformanceTiming>,
        latest_mark: impl Fn(NameId) -> Option<HighResTime>,
        now: impl FnOnce() -> HighResTime,
    ) -> Result<Range, MeasureError> {
        use Bound::Omitted;
        let time = |bound, edge| to_timestamp(bound, edge, timing, &latest_mark);
        let duration = || match self.duration {
            Some(HighResTime(duration)) if duration < 0.0 => Err(MeasureError::NegativeDuration),
            given => Ok(given.map_or(0.0, |given| given.0)),
        };
        match (self.start, self.end, self.duration) {
            (Omitted, Omitted, Some(_)) => return Err(MeasureError::DurationAlone),
            (Omitted, _, _) | (_, Omitted, _) | (_, _, None) => {}
            _ => return Err(MeasureError::TooMany),
        }
        let end = match (self.start, self.end, self.duration) {
            (_, Omitted, None) => now().0,
            (start, Omitted, Some(_)) => time(start, Edge::Start)? + duration()?,
            (_, end, _) => time(end, Edge::End)?,
        };
        let start = match (self.start, self.duration) {
            (Omitted, None) => 0.0,
            (Omitted, Some(_)) => end - duration()?,
            (start, _) => time(start, Edge::Start)?,
        };
        Ok(Range { start: HighResTime(start), duration: HighResTime(end - start) })
    }
}

/// [Convert a mark to a timestamp](https://w3c.github.io/user-timing/#convert-a-mark-to-a-timestamp).
#[inline]
fn to_timestamp(
    bound: Bound,
    edge: Edge,
    timing: Option<&PerformanceTiming>,
    latest_mark: impl Fn(NameId) -> Option<HighResTime>,
) -> Result<f64, MeasureError> {
    match bound {
        Bound::Omitted => Ok(0.0),
        Bound::Attribute(attribute) => attribute_to_timestamp(attribute, edge, timing),
        Bound::Mark(name) => {
            latest_mark(name).map(|start| start.0).ok_or(MeasureError::NoSuchMark { edge, name: Some(name) })
        }
        Bound::UnknownName => Err(MeasureError::NoSuchMark { edge, name: None }),
        Bound::Time(HighResTime(time)) if time < 0.0 => Err(MeasureError::NegativeTime { edge }),
        Bound::Time(HighResTime(time)) => Ok(time),
    }
}

/// [Convert a name to a timestamp](https://w3c.github.io/user-timing/#convert-a-name-to-a-timestamp).
fn attribute_to_timestamp(
    attribute: TimingAttribute,
    edge: Edge,
    timing: Option<&PerformanceTiming>,
) -> Result<f64, MeasureError> {
    let timing = timing.ok_or(MeasureError::NoWindow { edge, attribute })?;
    if attribute == TimingAttribute::NavigationStart {
        return Ok(0.0);
    }
    let value = timing.get(attribute);
    if value == 0.0 {
        return Err(MeasureError::AttributeIsZero { edge, attribute });
    }
    Ok(value - timing.get(TimingAttribute::NavigationStart))
}

/// One of the two ends of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Its start.
    Start,
    /// Its end.
    End,
}

/// Why a measure could not be made. Steps refer to [User Timing](https://w3c.github.io/user-timing/).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureError {
    /// A `SyntaxError`: no mark has this name. "Convert a mark to a timestamp", step 2.
    NoSuchMark {
        /// The end of the measure.
        edge: Edge,
        /// The name, if one was ever interned.
        name: Option<NameId>,
    },
    /// A `TypeError`: a negative time. "Convert a mark to a timestamp", step 3.1.
    NegativeTime {
        /// The end of the measure.
        edge: Edge,
    },
    /// A `TypeError`: a negative duration. "Convert a mark to a timestamp", step 3.1, as `measure()` runs it on
    /// durations.
    NegativeDuration,
    /// A `TypeError`: there is no `PerformanceTiming` outside of windows. "Convert a name to a timestamp", step 1.
    NoWindow {
        /// The end of the measure.
        edge: Edge,
        /// The attribute.
        attribute: TimingAttribute,
    },
    /// An `InvalidAccessError`: the attribute is 0, since the event has not happened. "Convert a name to a timestamp",
    /// step 5.
    AttributeIsZero {
        /// The end of the measure.
        edge: Edge,
        /// The attribute.
        attribute: TimingAttribute,
    },
    /// A `TypeError`: a start, an end and a duration were all given. `measure()`, step 1.3.
    TooMany,
    /// A `TypeError`: a duration was given, but neither a start nor an end. `measure()`, step 1.2.
    DurationAlone,
}

impl MeasureError {
    /// The error to throw: `TypeError`, or the name of a `DOMException`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoSuchMark { .. } => "SyntaxError",
            Self::AttributeIsZero { .. } => "InvalidAccessError",
            _ => "TypeError",
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::End => "end",
        })
    }
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchMark { edge, .. } => write!(f, "the {edge} mark does not exist"),
            Self::NegativeTime { edge } => write!(f, "the {edge} time is negative"),
            Self::NegativeDuration => write!(f, "the duration is negative"),
            Self::NoWindow { edge, attribute } => {
                write!(f, "the {edge} is {}, which only windows have", attribute.name())
            }
            Self::AttributeIsZero { edge, attribute } => {
                write!(f, "the {edge} is {}, which is 0", attribute.name())
            }
            Self::TooMany => write!(f, "a start, an end and a duration are given; only two can be"),
            Self::DurationAlone => write!(f, "a duration is given, but neither a start nor an end"),
        }
    }
}

impl std::error::Error for MeasureError {}

#[cfg(test)]
mod tests;
