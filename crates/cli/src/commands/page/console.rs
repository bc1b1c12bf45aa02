//! Prints a page's console output and errors: `console.log()` and the like to stdout, warnings and errors to stderr.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;

use crate::terminal::color::Colors;
use crate::terminal::messages::{say, warn};
use crate::terminal::names::printable;

/// The number of errors and problems so far.
#[derive(Debug, Default)]
pub struct Counts {
    errors: AtomicU64,
    problems: AtomicU64,
    has_lost_lines: AtomicBool,
}

impl Counts {
    /// Whether messages could not be written to stdout, for another reason than that it was closed.
    pub fn has_lost_lines(&self) -> bool {
        self.has_lost_lines.load(Ordering::Relaxed)
    }

    /// Prints the counts, if there are any.
    pub fn report(&self) {
        let counts = [
            (self.errors.load(Ordering::Relaxed), "uncaught error", "uncaught errors"),
            (self.problems.load(Ordering::Relaxed), "problem", "problems"),
        ];
        let texts: Vec<String> = counts
            .into_iter()
            .filter(|&(count, ..)| count > 0)
            .map(|(count, one, more)| format!("{count} {}", if count == 1 { one } else { more }))
            .collect();
        if !texts.is_empty() {
            say(format_args!("page: {}", texts.join(", ")));
        }
    }
}

/// Prints events of a page.
#[derive(Debug)]
pub struct Console {
    counts: Arc<Counts>,
}

impl Console {
    pub fn new(counts: Arc<Counts>) -> Self {
        Self { counts }
    }

    /// Prints an event of the page host.
    pub fn print(&mut self, event: &Value) {
        let text = |name| event.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("event") {
            "console" => self.log(text("method"), text("text")),
            "pageerror" => {
                self.counts.errors.fetch_add(1, Ordering::Relaxed);
                self.error(event);
            }
            "problem" => {
                self.counts.problems.fetch_add(1, Ordering::Relaxed);
                warn(lines(text("text")));
            }
            _ => {}
        }
    }

    fn log(&self, method: &str, text: &str) {
        match method {
            "error" | "assert" | "trace" | "warn" => say(lines(text)),
            _ => {
                // Neither a closed stdout nor a full disk ends the page.
                let written = writeln!(io::stdout(), "{}", lines(text));
                if written.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe) {
                    self.counts.has_lost_lines.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    fn error(&self, event: &Value) {
        let text = |name| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let colors = Colors::for_stderr();
        say(format_args!("{} {}", colors.error("page error:"), lines(text("message"))));
        // The first line of the stack repeats the message.
        let stack = text("stack");
        let frames: Vec<&str> = stack.lines().filter(|line| line.trim_start().starts_with("at ")).collect();
        if frames.is_empty() {
            let number = |name| event.get(name).and_then(Value::as_u64).unwrap_or(0);
            if !text("filename").is_empty() {
                say(format_args!(
                    "    at {}:{}:{}",
                    lines(text("filename")),
                    number("lineno"),
                    number("colno")
                ));
            }
        }
        frames.into_iter().for_each(|line| say(lines(line)));
    }
}

/// Text from a page, with line breaks and tabs but without other control characters.
fn lines(text: &str) -> String {
    text.split('\n')
        .map(|line| line.split('\t').map(printable).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_and_tabs_are_kept() {
        assert_eq!(lines("a\tb\n\x1b[2Jc\r"), "a\tb\n\u{FFFD}[2Jc\u{FFFD}");
    }
}
