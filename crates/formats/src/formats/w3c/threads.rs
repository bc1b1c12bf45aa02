//! Reading the members `thread` and `threads`, which are selfprof's own.

use selfprof_trace::Trace;
use selfprof_trace::foreign::{LimitExceeded, Limits, Location, Problem, ProblemKind, Problems, Remedy};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::elements::parse;
use super::read::{Reading, TraceObject};
use crate::json::{Any, Exceeded, Members, Text, any, stop};
use crate::thread::{Process, Thread};

/// The maximum number of threads in a file.
const MAX_THREADS: usize = 1 << 16;

/// The name of a thread that has none.
const UNNAMED: &str = "thread";

/// The description of a thread: each member that has the right type.
#[derive(Clone, Debug, Default)]
pub(super) struct Description {
    name: Option<String>,
    pid: Option<u32>,
    tid: Option<u64>,
    command: Option<String>,
}

impl Description {
    /// The thread of this trace.
    pub(super) fn thread(self, default_name: &str, trace: Trace) -> Thread {
        let process = self.pid.map(|pid| Process {
            pid,
            tid: self.tid.unwrap_or(0),
            command: self.command.unwrap_or_default(),
        });
        Thread { process, ..Thread::named(self.name.unwrap_or_else(|| default_name.to_owned()), trace) }
    }
}

impl<'de> Deserialize<'de> for Description {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Members<'json> {
            #[serde(borrow)]
            name: Option<&'json RawValue>,
            #[serde(borrow)]
            pid: Option<&'json RawValue>,
            #[serde(borrow)]
            tid: Option<&'json RawValue>,
            #[serde(borrow)]
            command: Option<&'json RawValue>,
        }
        // Other programs may use the name of the member for something else.
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let members: Members<'_> = serde_json::from_str(json.get()).unwrap_or_default();
        let text = |member| parse(member).map(|Text(text)| text);
        Ok(Self {
            name: text(members.name),
            pid: parse(members.pid),
            tid: parse(members.tid),
            command: text(members.command),
        })
    }
}

/// The other threads of a file.
#[derive(Default)]
pub(super) struct OtherThreads {
    pub(super) list: Vec<(Thread, Problems)>,
    /// What was wrong with the list.
    pub(super) problems: Vec<Problem>,
}

/// Reads the member `threads`.
pub(super) struct ThreadList<'read> {
    pub(super) threads: &'read mut OtherThreads,
    pub(super) limits: Limits,
    pub(super) exceeded: &'read mut Exceeded,
}

impl<'de> Any<'de> for ThreadList<'_> {
    const EXPECTED: &'static str = "a list of threads";

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { threads, limits, exceeded } = self;
        let mut index = 0;
        while let Some(()) =
            list.next_element_seed(any(ThreadElement { threads, limits, exceeded, index }))?
        {
            index += 1;
            LimitExceeded::check("threads", index, MAX_THREADS).map_err(|limit| stop(limit, exceeded))?;
        }
        Ok(())
    }

    fn refuse(self) {
        self.threads.problems.push(Problem {
            location: Location::Member("threads"),
            value: None,
            kind: ProblemKind::ThreadList,
            remedy: Remedy::NoMember,
        });
    }
}

/// Reads an element of the list.
struct ThreadElement<'read> {
    threads: &'read mut OtherThreads,
    limits: Limits,
    exceeded: &'read mut Exceeded,
    index: usize,
}

impl<'de> Any<'de> for ThreadElement<'_> {
    const EXPECTED: &'static str = "a thread";

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<(), A::Error> {
        let mut reading = Reading::new(self.limits, None);
        let result = TraceObject { reading: &mut reading, is_outermost: false }.read(object);
        if result.is_err() {
            *self.exceeded = reading.exceeded;
        } else if reading.is_complete() {
            let (trace, problems) = reading.trace.validate();
            self.threads.list.push((reading.description.thread(UNNAMED, trace), problems));
        } else {
            self.refuse();
        }
        result
    }

    fn null(self) {
        self.refuse();
    }

    fn refuse(self) {
        // The list may be long, and as many problems are listed of a trace.
        if self.threads.problems.len() < Problems::LISTED {
            self.threads.problems.push(Problem {
                location: Location::Element { list: "threads", index: self.index, member: "" },
                value: None,
                kind: ProblemKind::Thread,
                remedy: Remedy::NoThread,
            });
        }
    }
}
