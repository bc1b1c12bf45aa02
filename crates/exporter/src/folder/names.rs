//! The names of files in the folder.

use std::fmt;

/// The file that the exporter locks.
pub const EXPORTER_LOCK: &str = "exporter.lock";

/// What the name of a journal with source maps has before its end.
const MAPS: &str = ".maps";

/// What the name of a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A process holds the lock of this file while it lives.
    Alive {
        /// Its name: its id, a dot, and a text that makes it unique.
        process: String,
    },
    /// The journal that a thread writes.
    Writing {
        /// The process.
        process: String,
        /// The thread.
        thread: Thread,
    },
    /// The source maps of a thread's scripts.
    Maps {
        /// The process.
        process: String,
        /// The thread.
        thread: Thread,
    },
    /// A complete journal.
    Finished(Part),
    /// Why a thread is not recorded.
    Failure,
    /// The threads whose parts were sent together.
    Sent {
        /// The process.
        process: String,
        /// The number of the period.
        number: u64,
    },
}

/// The journal of one thread in one period. Ordered by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The number of the period since 1970.
    pub number: u64,
    /// The process.
    pub process: String,
    /// The thread.
    pub thread: Thread,
}

/// A thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thread {
    /// The main thread.
    Main,
    /// A worker with its number.
    Worker(u64),
}

impl Thread {
    /// The thread with this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "main" => Some(Self::Main),
            _ => number(name.strip_prefix("worker-")?).map(Self::Worker),
        }
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("main"),
            Self::Worker(number) => write!(f, "worker-{number}"),
        }
    }
}

impl Part {
    /// The name of its file.
    pub fn file_name(&self) -> String {
        let Self { number, process, thread } = self;
        format!("{process}.{thread}.{number}.finished")
    }
}

impl Name {
    /// What a name says; `None` if it is of no file that matters.
    pub fn parse(name: &str) -> Option<Self> {
        let (rest, kind) = name.rsplit_once('.')?;
        let process = |text: &str| {
            let id = text.split('.').next().and_then(number);
            id.map(|_| text.to_owned())
        };
        let split = || {
            let (text, last) = rest.rsplit_once('.')?;
            Some((process(text)?, last))
        };
        Some(match kind {
            "alive" => Self::Alive { process: process(rest)? },
            "failure" => Self::Failure,
            "journal" => match rest.strip_suffix(MAPS) {
                Some(text) => {
                    let (text, thread) = text.rsplit_once('.')?;
                    Self::Maps { process: process(text)?, thread: Thread::parse(thread)? }
                }
                None => {
                    let (process, thread) = split()?;
                    Self::Writing { process, thread: Thread::parse(thread)? }
                }
            },
            "finished" => {
                let (text, last) = rest.rsplit_once('.')?;
                let (text, thread) = text.rsplit_once('.')?;
                let (process, thread) = (process(text)?, Thread::parse(thread)?);
                Self::Finished(Part { number: number(last)?, process, thread })
            }
            "sent" => {
                let (process, last) = split()?;
                Self::Sent { process, number: number(last)? }
            }
            _ => return None,
        })
    }
}

/// A number as it is written, so that it becomes the same text again.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// The file whose lock the process holds.
pub fn alive(process: &str) -> String {
    format!("{process}.alive")
}

/// The journal that a thread writes.
pub fn writing(process: &str, thread: Thread) -> String {
    format!("{process}.{thread}.journal")
}

/// The source maps of a thread's scripts.
pub fn maps(process: &str, thread: Thread) -> String {
    format!("{process}.{thread}{MAPS}.journal")
}

/// The list of the threads whose parts were sent.
pub fn sent(process: &str, number: u64) -> String {
    format!("{process}.{number}.sent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        #[track_caller]
        fn check(name: &str, expected: Option<Name>) {
            assert_eq!(Name::parse(name), expected);
        }
        let process = || "7.a.b".to_owned();
        let part = |thread| Part { number: 29, process: process(), thread };
        check("7.a.b.alive", Some(Name::Alive { process: process() }));
        check("7.a.b.main.journal", Some(Name::Writing { process: process(), thread: Thread::Main }));
        check("7.a.b.main.maps.journal", Some(Name::Maps { process: process(), thread: Thread::Main }));
        check("7.a.b.maps.journal", None);
        check("7.a.b.main.29.finished", Some(Name::Finished(part(Thread::Main))));
        check("7.a.b.worker-3.29.finished", Some(Name::Finished(part(Thread::Worker(3)))));
        check("7.a.b.29.sent", Some(Name::Sent { process: process(), number: 29 }));
        check("7.a.b.main.failure", Some(Name::Failure));
        check("7.a.b.main.029.finished", None);
        check("7.a.b.worker-x.29.finished", None);
        check("7.a.b.main.-1.finished", None);
        check("x.main.1.finished", None);
        check("../7.a.main.1.finished", None);
        check("settings.json", None);
        check("", None);
        assert_eq!(part(Thread::Worker(3)).file_name(), "7.a.b.worker-3.29.finished");
    }

    #[test]
    fn the_oldest_part_comes_first() {
        let part = |number, process: &str, thread| Part { number, process: process.to_owned(), thread };
        let mut parts =
            [part(10, "7.a", Thread::Main), part(9, "8.a", Thread::Worker(1)), part(9, "8.a", Thread::Main)];
        parts.sort();
        assert_eq!(
            parts.map(|part| part.file_name()),
            ["8.a.main.9.finished", "8.a.worker-1.9.finished", "7.a.main.10.finished"]
        );
    }
}
