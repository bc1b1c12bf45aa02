//! `ProfilerInitOptions`, converted as WebIDL and the constructor's steps say.

use std::fmt;

use selfprof_trace::Micros;

/// [`ProfilerInitOptions`](https://wicg.github.io/js-self-profiling/#the-profilerinitoptions-dictionary), converted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitOptions {
    /// The requested interval, rounded up to the microsecond; not yet quantised to what the agent offers.
    pub sample_interval: Micros,
    /// The sample buffer size limit, in samples.
    pub max_buffer_size: u32,
}

impl InitOptions {
    /// Converts the results of JavaScript's `ToNumber`. `None` stands for a member that is missing or `undefined`.
    /// Members are converted in WebIDL's lexicographical order, so an invalid `maxBufferSize` is reported first.
    ///
    /// # Errors
    /// [`OptionsError::Missing`] and [`OptionsError::NotFinite`] must be thrown as `TypeError`,
    /// [`OptionsError::OutOfRange`] as `RangeError`.
    pub fn convert(sample_interval: Option<f64>, max_buffer_size: Option<f64>) -> Result<Self, OptionsError> {
        let max_buffer_size = unsigned_long(max_buffer_size.ok_or(OptionsError::Missing("maxBufferSize"))?);
        let sample_interval = sample_interval.ok_or(OptionsError::Missing("sampleInterval"))?;
        if !sample_interval.is_finite() {
            return Err(OptionsError::NotFinite("sampleInterval"));
        }
        if sample_interval < 0.0 {
            return Err(OptionsError::OutOfRange(sample_interval));
        }
        // Chromium refuses intervals that its sampler cannot represent, as it refuses negative ones. V8 counts
        // microseconds in an int.
        let micros = sample_interval * 1_000.0;
        if micros > f64::from(i32::MAX) {
            return Err(OptionsError::OutOfRange(sample_interval));
        }
        Ok(Self { sample_interval: Micros(micros.ceil() as u64), max_buffer_size })
    }
}

/// WebIDL's [`unsigned long`](https://webidl.spec.whatwg.org/#es-unsigned-long) without attributes: truncate, then
/// wrap modulo 2^32; a number that is not finite becomes 0.
fn unsigned_long(number: f64) -> u32 {
    if !number.is_finite() {
        return 0;
    }
    number.trunc().rem_euclid(4_294_967_296.0) as u32
}

/// Why a script's options are invalid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionsError {
    /// A required member is missing: a `TypeError`.
    Missing(&'static str),
    /// A member that must be a finite number is not: a `TypeError`.
    NotFinite(&'static str),
    /// `sampleInterval` is negative, or longer than a sampler supports: a `RangeError`.
    OutOfRange(f64),
}

impl OptionsError {
    /// The JavaScript constructor to throw: `TypeError` or `RangeError`.
    #[must_use]
    pub fn constructor(&self) -> &'static str {
        match self {
            Self::Missing(_) | Self::NotFinite(_) => "TypeError",
            Self::OutOfRange(_) => "RangeError",
        }
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(member) => write!(f, "required member {member} is undefined"),
            Self::NotFinite(member) => write!(f, "member {member} is not a finite number"),
            Self::OutOfRange(asked) => {
                write!(f, "sampleInterval is {asked}; it must be at least 0 and at most 2147483 milliseconds")
            }
        }
    }
}

impl std::error::Error for OptionsError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(interval: Option<f64>, size: Option<f64>, expected: Result<(u64, u32), &str>) {
        let got = InitOptions::convert(interval, size);
        let got = match &got {
            Ok(options) => Ok((options.sample_interval.0, options.max_buffer_size)),
            Err(error) => Err(error.constructor()),
        };
        assert_eq!(got, expected, "{interval:?} {size:?}");
    }

    #[test]
    fn members_convert_as_webidl_says() {
        check(Some(10.0), Some(10_000.0), Ok((10_000, 10_000)));
        check(Some(0.0), Some(0.0), Ok((0, 0)));
        check(Some(-0.0), Some(1.0), Ok((0, 1)));
        check(Some(0.25), Some(1.9), Ok((250, 1)));
        check(Some(1.0), Some(-1.0), Ok((1_000, u32::MAX)));
        check(Some(1.0), Some(4_294_967_297.0), Ok((1_000, 1)));
        check(Some(1.0), Some(f64::NAN), Ok((1_000, 0)));
        check(Some(1.0), Some(f64::INFINITY), Ok((1_000, 0)));
    }

    #[test]
    fn bad_members_are_refused() {
        check(None, Some(1.0), Err("TypeError"));
        check(Some(1.0), None, Err("TypeError"));
        check(Some(f64::NAN), Some(1.0), Err("TypeError"));
        check(Some(f64::INFINITY), Some(1.0), Err("TypeError"));
        check(Some(-1.0), Some(1.0), Err("RangeError"));
        check(Some(1e9), Some(1.0), Err("RangeError"));
    }
}
