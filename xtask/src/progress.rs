//! Progress messages on stderr: moving lines on a terminal, an occasional line in a log.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::io::{IsTerminal, stderr};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How long an activity writes nothing to a log while it goes on.
const SILENCE: Duration = Duration::from_secs(60);

/// The moving lines of all activities: several may go on at once.
static LINES: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Says what a command is about to do.
pub fn say(what: &str) {
    print(|| eprintln!("selfprof: {what}"));
}

/// Removes the moving lines from the terminal while something else is printed.
pub fn print<T>(print: impl FnOnce() -> T) -> T {
    LINES.suspend(print)
}

/// A duration in words: `4.2 s`, `12 min 05 s`.
pub fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..=99 => format!("{:.1} s", duration.as_secs_f64()),
        long => format!("{} min {:02} s", long / 60, long % 60),
    }
}

/// What the child processes of an activity compete for the processors with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Priority {
    /// As any program.
    Normal,
    /// Only the time that other programs leave: compilers do not delay tests that wait and then react.
    Low,
}

/// Something that takes long. Its line leaves the terminal when it is dropped.
pub struct Activity {
    name: String,
    priority: Priority,
    since: Instant,
    cpu: Cell<Duration>,
    line: Option<ProgressBar>,
    printed: Cell<Instant>,
}

impl Activity {
    /// Starts showing it.
    pub fn start(name: &str) -> Self {
        Self::with_priority(name, Priority::Normal)
    }

    /// Starts showing one whose child processes run with this priority.
    pub fn with_priority(name: &str, priority: Priority) -> Self {
        let line = stderr().is_terminal().then(|| {
            let line = LINES.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} ({elapsed}) {wide_msg}") {
                line.set_style(style);
            }
            line.set_prefix(name.to_owned());
            line.enable_steady_tick(Duration::from_millis(120));
            line
        });
        let now = Instant::now();
        let (cpu, printed) = (Cell::new(Duration::ZERO), Cell::new(now));
        Self { name: name.to_owned(), priority, since: now, cpu, line, printed }
    }

    /// The priority of its child processes.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// How long it has taken so far.
    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// The CPU time of its child processes that have ended, with their own children.
    pub fn cpu(&self) -> Duration {
        self.cpu.get()
    }

    /// Adds the CPU time of a child process that has ended.
    pub fn add_cpu(&self, used: Duration) {
        self.cpu.set(self.cpu.get() + used);
    }

    /// Called often while it goes on; `last_line` gives the newest line of its output and is called only when needed.
    pub fn continues(&self, last_line: impl FnOnce() -> String) {
        let wait = if self.line.is_some() { Duration::from_millis(500) } else { SILENCE };
        if self.printed.get().elapsed() < wait {
            return;
        }
        self.printed.set(Instant::now());
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
