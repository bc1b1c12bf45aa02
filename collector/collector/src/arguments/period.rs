//! Points in time, as people write them.

use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};

/// A point in time in microseconds since 1970, or before now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So many microseconds ago.
    Ago(i64),
    /// A time.
    At(i64),
}

/// A text that is neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAMoment(String);

impl std::fmt::Display for NotAMoment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not a time: write -7d, -90m, 2026-11-20 or 2026-11-20T08:00:00Z", self.0)
    }
}

impl std::error::Error for NotAMoment {}

impl Moment {
    /// Microseconds since 1970.
    pub fn resolve(self, now: i64) -> i64 {
        match self {
            Self::Ago(micros) => now.saturating_sub(micros),
            Self::At(micros) => micros,
        }
    }
}

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        let error = || NotAMoment(text.chars().take(40).collect());
        let text = text.trim();
        if let Some(period) = text.strip_prefix('-') {
            let period = humantime::parse_duration(period).map_err(|_| error())?;
            return i64::try_from(period.as_micros()).map(Self::Ago).map_err(|_| error());
        }
        if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self::At(time.timestamp_micros()));
        }
        let day: NaiveDate = text.parse().map_err(|_| error())?;
        Ok(Self::At(day.and_hms_opt(0, 0, 0).ok_or_else(error)?.and_utc().timestamp_micros()))
    }
}

/// How long profiles are kept: at least a day, because days are deleted as a whole.
pub fn keep(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text.trim()) {
        Ok(period) if period >= Duration::from_secs(86_400) => Ok(period),
        Ok(_) => Err("it is shorter than a day, and only whole days are deleted".into()),
        Err(_) => Err("write a period such as 30d".into()),
    }
}

/// Now, in microseconds since 1970.
pub fn now() -> i64 {
    Utc::now().timestamp_micros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_kept_for_days() {
        assert_eq!(keep("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert!(keep("23h").unwrap_err().contains("shorter than a day"));
        assert!(keep("30").unwrap_err().contains("such as 30d"));
    }

    #[test]
    fn times_are_written_in_three_ways() {
        assert_eq!("-7d".parse(), Ok(Moment::Ago(7 * 86_400_000_000)));
        assert_eq!("-90m".parse(), Ok(Moment::Ago(5_400_000_000)));
        assert_eq!("1970-01-02".parse(), Ok(Moment::At(86_400_000_000)));
        assert_eq!("1970-01-01T00:00:01+00:00".parse(), Ok(Moment::At(1_000_000)));
        for text in ["", "7d", "-", "-7", "yesterday", "2026-13-01", "-9999999999999999999d"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
