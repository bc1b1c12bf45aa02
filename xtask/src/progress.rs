//! Talk to the person who waits, on stderr: a moving line on a terminal, a line now and then in a log.

use indicatif::{ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// How long a log stays silent about something that goes on.
const SILENCE: Duration = Duration::from_secs(30);

/// Says what a command is about to do.
pub fn say(what: &str) {
    eprintln!("selfprof: {what}");
}

/// Seconds as a person reads them.
pub fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..=99 => format!("{:.1} s", duration.as_secs_f64()),
        long => format!("{} min {:02} s", long / 60, long % 60),
    }
}

/// Something that takes long. It leaves the terminal when dropped.
pub struct Activity {
    name: String,
    since: Instant,
    line: Option<ProgressBar>,
    told: Cell<Instant>,
}

impl Activity {
    /// Starts to show it.
    pub fn start(name: &str) -> Self {
        let line = stderr().is_terminal().then(|| {
            let line = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} ({elapsed}) {wide_msg}") {
                line.set_style(style);
            }
            line.set_prefix(name.to_owned());
            line.enable_steady_tick(Duration::from_millis(120));
            line
        });
        let now = Instant::now();
        Self { name: name.to_owned(), since: now, line, told: Cell::new(now) }
    }

    /// How long it has taken so far.
    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// Takes its line away while something else is printed.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.line {
            Some(line) => line.suspend(print),
            None => print(),
        }
    }

    /// Called often while it goes on; `last_line` gives the newest line of its output and is asked only when needed.
    pub fn go_on(&self, last_line: impl FnOnce() -> String) {
        let wait = if self.line.is_some() { Duration::from_millis(500) } else { SILENCE };
        if self.told.get().elapsed() < wait {
            return;
        }
        self.told.set(Instant::now());
        match &self.line {
            Some(line) => line.set_message(last_line()),
            None => eprintln!("  {}: {} so far: {}", self.name, seconds(self.elapsed()), last_line()),
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
