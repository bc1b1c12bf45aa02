//! The member `waitingTimes`, selfprof's own.

use std::io::{self, Write};

use selfprof_trace::foreign::{ForeignTrace, LimitExceeded, Location, Problem, ProblemKind, Remedy};
use selfprof_trace::{Micros, Trace, WaitingPoint, WaitingTimes};
use serde_json::value::RawValue;

use crate::json::{millis, write_list};

const MEMBER: &str = "waitingTimes";

/// Writes the member after a comma, unless the waiting times are not known: how long the thread had waited at these
/// times.
pub(super) fn write_waiting_times(out: &mut impl Write, trace: &Trace) -> io::Result<()> {
    let Some(waiting) = trace.waiting() else { return Ok(()) };
    let points = || waiting.points().iter();
    write!(out, ",\"{MEMBER}\":{{")?;
    write_list(out, "\"timestamps\":[", points(), |out, point| millis(out, point.timestamp))?;
    write_list(out, "],\"values\":[", points(), |out, point| millis(out, point.waited))?;
    out.write_all(b"]}")
}

/// What was read of the member.
#[derive(Default)]
pub(super) struct ForeignWaitingTimes {
    /// `None` if there is no such member.
    times: Option<Lists>,
}

#[derive(Default, serde::Deserialize)]
struct Lists {
    timestamps: Vec<f64>,
    values: Vec<f64>,
}

impl ForeignWaitingTimes {
    /// Reads the member. Other programs' traces may have anything in its place.
    pub(super) fn read(json: &RawValue, trace: &ForeignTrace) -> Result<Self, LimitExceeded> {
        let text = json.get();
        if text == "null" {
            return Ok(Self::default());
        }
        // Fails for numbers that are too large, too.
        let times: Lists =
            serde_json::from_str(text).unwrap_or(Lists { timestamps: vec![0.0], values: vec![] });
        let limit = trace.limits().samples;
        if times.timestamps.len() > limit {
            return Err(LimitExceeded::new("waiting times", limit));
        }
        Ok(Self { times: Some(times) })
    }

    /// The waiting times if they are valid. Reports a problem otherwise.
    pub(super) fn validate(self, trace: &mut ForeignTrace) -> Option<WaitingTimes> {
        let valid = valid_times(&self.times?);
        if valid.is_none() {
            let (location, kind) = (Location::Member(MEMBER), ProblemKind::WaitingTimes);
            trace.report(Problem { location, value: None, kind, remedy: Remedy::NoMember });
        }
        valid
    }
}

fn valid_times(Lists { timestamps, values }: &Lists) -> Option<WaitingTimes> {
    if timestamps.len() != values.len() {
        return None;
    }
    let mut times = WaitingTimes::default();
    for (&timestamp, &waited) in timestamps.iter().zip(values) {
        let point = WaitingPoint {
            timestamp: Micros::from_millis_f64(timestamp)?,
            waited: Micros::from_millis_f64(waited)?,
        };
        times.push(point);
        if times.points().last() != Some(&point) {
            return None;
        }
    }
    Some(times)
}
