//! Messages on stderr, which the exporter shares with the program that is profiled.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// At most this many messages follow each other.
const BURST: f64 = 20.0;

/// How often there may be a message in the long run.
const INTERVAL: Duration = Duration::from_secs(30);

/// The longest message. A pipe that has room takes so many bytes without blocking.
const MAX_LENGTH: usize = 2_000;

/// Prints messages, not too many of them.
#[derive(Debug)]
pub struct Messages {
    limit: Limit,
}

impl Messages {
    /// No messages so far.
    pub fn new() -> Self {
        Self { limit: Limit::new(Instant::now()) }
    }

    /// Prints a message on a line of its own, unless there were too many. Control characters are replaced.
    pub fn say(&mut self, message: impl Display) {
        let stderr = io::stderr();
        let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
        // The program may not read what it has written into a pipe.
        let is_ready =
            poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|count| count > 0);
        if let Some(left_out) = self.limit.take(Instant::now(), is_ready) {
            let more = match left_out {
                0 => String::new(),
                count => format!(" ({count} messages were left out)"),
            };
            // A closed stderr is not a reason to end.
            let _ = writeln!(stderr.lock(), "selfprof agent: {}{more}", printable(&message.to_string()));
        }
    }
}

/// The message on one line.
fn printable(message: &str) -> String {
    let plain = message.chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut text: String = plain.collect();
    if text.len() > MAX_LENGTH {
        let end = text.floor_char_boundary(MAX_LENGTH);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// How many messages there may be.
#[derive(Debug)]
struct Limit {
    left: f64,
    at: Instant,
    left_out: u64,
}

impl Limit {
    fn new(now: Instant) -> Self {
        Self { left: BURST, at: now, left_out: 0 }
    }

    /// Whether there may be a message now, and how many were left out before.
    fn take(&mut self, now: Instant, is_ready: bool) -> Option<u64> {
        let passed = now.saturating_duration_since(self.at);
        self.left = (self.left + passed.as_secs_f64() / INTERVAL.as_secs_f64()).min(BURST);
        self.at = now;
        if !is_ready || self.left < 1.0 {
            self.left_out += 1;
            return None;
        }
        self.left -= 1.0;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_limited_and_counted() {
        let start = Instant::now();
        let mut limit = Limit::new(start);
        assert_eq!((0..30).filter(|_| limit.take(start, true).is_some()).count(), 20);
        assert_eq!(limit.take(start + INTERVAL * 2, true), Some(10));
        assert_eq!(limit.take(start + INTERVAL * 2, false), None);
        assert_eq!(limit.take(start + INTERVAL * 2, true), Some(1));
        assert_eq!(limit.take(start + INTERVAL * 2, true), None);
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(printable("a\nb\u{1b}[1m"), "a b [1m");
        assert!(printable(&"ä".repeat(5_000)).len() < 2_010);
    }
}
