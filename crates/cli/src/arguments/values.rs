//! Parsers of values that several commands take.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use selfprof_formats::{Format, UnknownFormat};

/// One of these formats, by its name.
pub fn formats(formats: &[Format]) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(formats.iter().map(|format| format.as_str()))
        .try_map(|text| -> Result<Format, UnknownFormat> { text.parse() })
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
