//! Parsers of values that several commands take.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use selfprof_formats::{Format, UnknownFormat};

/// One of these formats, by its name.
pub fn formats(formats: &[Format]) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(formats.iter().map(|format| format.as_str()))
        .try_map(|text| -> Result<Format, UnknownFormat> { text.parse() })
}

/// A number of seconds, with or without a fraction.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "this is a number of seconds, greater than 0".to_owned())
}

/// A sample interval in milliseconds. Fractions are rejected: V8's sampler would round them.
pub fn interval(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(interval) if interval >= 1.0 && f64::is_finite(interval) && interval.fract() == 0.0 => {
            Ok(interval)
        }
        _ => Err("an interval is a whole number of milliseconds, at least 1".to_owned()),
    }
}

/// The id of a process.
pub fn process_id(text: &str) -> Result<u32, String> {
    let id = text.parse().ok().filter(|&id: &u32| id > 0 && i32::try_from(id).is_ok());
    id.ok_or_else(|| {
        "the id of a process is a whole number; `pgrep -a node` lists those of Node.js".to_owned()
    })
}
