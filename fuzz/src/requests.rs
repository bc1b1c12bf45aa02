//! What programs ask for: sessions of a profiler, commands of WebDriver.

use selfprof_session::InitOptions;
use selfprof_webdriver::testing::{Answer, understand};

/// A request: its method and path, then its Host, Origin and Content-Type, a line each, then its body.
pub fn webdriver(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.splitn(5, '\n');
    let [line, host, origin, kind, body] = [(); 5].map(|()| lines.next().unwrap_or_default());
    let (method, path) = line.split_once(' ').unwrap_or((line, "/"));
    match understand(method, path, [host, origin, kind], body) {
        Answer::Refused(reason) => assert!(!reason.is_empty()),
        Answer::Failed(code) => assert!(!code.is_empty()),
        Answer::Session(told) => {
            assert!(origin.is_empty(), "a page started a session");
            assert_eq!(told["browserName"], "selfprof");
            let timeouts = &told["timeouts"];
            assert!(
                ["script", "pageLoad", "implicit"]
                    .iter()
                    .all(|name| timeouts[*name].is_u64() || timeouts[*name].is_null())
            );
        }
        Answer::Command(session) => {
            assert!(origin.is_empty() && session.is_none_or(|id| !id.contains('/') || path.contains('%')))
        }
    }
}

/// The options of a session: two doubles.
pub fn options(input: &[u8]) {
    let number = |at: usize| input.get(at..at + 8)?.try_into().ok().map(f64::from_le_bytes);
    let (interval, size) = (number(0), number(8));
    match InitOptions::convert(interval, size) {
        Ok(options) => {
            assert!(options.sample_interval.0 <= i32::MAX as u64);
            // Never sooner than it was asked for, and no more than a microsecond later.
            let asked = interval.unwrap_or(f64::NAN) * 1_000.0;
            assert!((0.0..=1.0).contains(&(options.sample_interval.0 as f64 - asked)));
        }
        Err(error) => {
            assert!(["TypeError", "RangeError"].contains(&error.constructor()));
            assert!(!error.to_string().is_empty());
        }
    }
}
