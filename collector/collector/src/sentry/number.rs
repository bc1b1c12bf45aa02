//! Numbers and times in the forms that Sentry's SDKs write.

use std::fmt;

use chrono::DateTime;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A number, or a text of one: nanoseconds are sent as texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

/// A time in seconds since 1970, sent as such or as `2026-11-23T12:00:00.000Z`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = |text: &str| text.trim().parse().ok();
        deserializer.deserialize_any(NumberVisitor { expected: "a number", number }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = |text: &str| {
            let time = DateTime::parse_from_rfc3339(text.trim()).ok()?;
            Some(time.timestamp_micros() as f64 / 1e6)
        };
        deserializer.deserialize_any(NumberVisitor { expected: "a time", number }).map(Self)
    }
}

/// Reads a number, or a text by a function.
struct NumberVisitor {
    expected: &'static str,
    number: fn(&str) -> Option<f64>,
}

impl Visitor<'_> for NumberVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        let number = (self.number)(text).filter(|number| number.is_finite());
        number.ok_or_else(|| E::custom(format!("a text is not {}", self.expected)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_texts() {
        #[track_caller]
        fn check(json: &str, number: Option<f64>, seconds: Option<f64>) {
            assert_eq!(serde_json::from_str::<Number>(json).ok().map(|number| number.0), number, "{json}");
            assert_eq!(serde_json::from_str::<Seconds>(json).ok().map(|time| time.0), seconds, "{json}");
        }
        check("5", Some(5.0), Some(5.0));
        check("-2.5", Some(-2.5), Some(-2.5));
        check("\"10000000\"", Some(1e7), None);
        check("\"1970-01-01T00:00:01.250Z\"", None, Some(1.25));
        check("\"NaN\"", None, None);
        check("\"\"", None, None);
        check("null", None, None);
        check("[1]", None, None);
    }
}
