//! The member `durations`, selfprof's own.

use std::io::{self, Write};

use selfprof_trace::Trace;
use selfprof_trace::foreign::{ForeignTrace, LimitExceeded};
use serde_json::value::RawValue;

use crate::json::{millis, write_list};

/// Writes the member, followed by a comma, unless the timestamps imply the same times.
pub(super) fn write_durations(out: &mut impl Write, trace: &Trace) -> io::Result<()> {
    let Some(durations) = trace.durations().filter(|_| trace.needs_durations()) else { return Ok(()) };
    write_list(out, "\"durations\":[", durations.iter(), |out, &duration| millis(out, duration))?;
    out.write_all(b"],")
}

/// Reads the member. Other programs' traces may have anything in its place.
pub(super) fn read_durations(json: &RawValue, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
    let text = json.get();
    if text == "null" {
        return Ok(());
    }
    // Fails for numbers that are too large, too. A time that is none is refused by the validation.
    let durations: Vec<f64> = serde_json::from_str(text).unwrap_or_else(|_| vec![f64::NAN]);
    let limit = trace.limits().samples;
    if durations.len() > limit {
        return Err(LimitExceeded::new("durations", limit));
    }
    trace.set_durations(Some(durations));
    Ok(())
}
