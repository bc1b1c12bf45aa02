//! WebDriver requests and the options of profiler sessions.

use selfprof_session::InitOptions;
use selfprof_webdriver::testing::{Outcome, handle};

/// An HTTP request: method and path, Host, Origin and Content-Type on a line each, then the body.
pub fn webdriver(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.splitn(5, '\n');
    let [line, host, origin, kind, body] = [(); 5].map(|()| lines.next().unwrap_or_default());
    let (method, path) = line.split_once(' ').unwrap_or((line, "/"));
    match handle(method, path, [host, origin, kind], body) {
        Outcome::Rejected(reason) => assert!(!reason.is_empty()),
        Outcome::Failed(code) => assert!(!code.is_empty()),
        Outcome::NewSession(capabilities) => {
            assert!(origin.is_empty(), "a page started a session");
            assert_eq!(capabilities["browserName"], "selfprof");
            let timeouts = &capabilities["timeouts"];
            assert!(
                ["script", "pageLoad", "implicit"]
                    .iter()
                    .all(|name| timeouts[*name].is_u64() || timeouts[*name].is_null())
            );
        }
        Outcome::Command(session) => {
            assert!(origin.is_empty() && session.is_none_or(|id| !id.contains('/') || path.contains('%')))
        }
    }
}

/// The options of a session, as two doubles.
pub fn options(input: &[u8]) {
    let number = |at: usize| input.get(at..at + 8)?.try_into().ok().map(f64::from_le_bytes);
    let (interval, size) = (number(0), number(8));
    match InitOptions::convert(interval, size) {
        Ok(options) => {
            assert!(options.sample_interval.0 <= i32::MAX as u64);
            // Never shorter than requested, and at most a microsecond longer.
            let requested = interval.unwrap_or(f64::NAN) * 1_000.0;
            assert!((0.0..=1.0).contains(&(options.sample_interval.0 as f64 - requested)));
        }
        Err(error) => {
            assert!(["TypeError", "RangeError"].contains(&error.constructor()));
            assert!(!error.to_string().is_empty());
        }
    }
}
