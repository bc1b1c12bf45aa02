//! Parsers of values that several commands take.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use selfprof_formats::{Format, UnknownFormat};

/// One of these formats, by its name.
pub fn formats(formats: &[Format]) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(formats.iter().map(|format| format.as_str()))
        .try_map(|text| -> Result<Format, UnknownFormat> { text.parse() })
}

/// A sample interval in milliseconds.
pub fn interval(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(interval) if interval > 0.0 && f64::is_finite(interval) => Ok(interval),
        _ => Err("an interval is a number of milliseconds greater than 0, e.g. 10".to_owned()),
    }
}
