//! What is read of the members `thread` and `threads`, which are selfprof's own.

use selfprof_trace::Trace;
use selfprof_trace::foreign::{Problem, Problems};
use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::elements::parse;
use crate::json::Text;
use crate::thread::{Process, Thread};

/// The year 2200, in milliseconds since the Unix epoch.
const MAX_TIME_ORIGIN: f64 = 7.26e12;

/// The description of a thread: each member that has the right type.
#[derive(Clone, Debug, Default)]
pub(super) struct Description {
    name: Option<String>,
    pid: Option<u32>,
    tid: Option<u64>,
    command: Option<String>,
    time_origin: Option<f64>,
}

impl Description {
    /// The thread of this trace.
    pub(super) fn thread(self, default_name: &str, trace: Trace) -> Thread {
        let process = self.pid.map(|pid| Process {
            pid,
            tid: self.tid.unwrap_or(0),
            command: self.command.unwrap_or_default(),
        });
        let name = self.name.unwrap_or_else(|| default_name.to_owned());
        // Nanoseconds since the epoch must fit into 64 bits in other formats.
        let time_origin = self.time_origin.filter(|time| (0.0..MAX_TIME_ORIGIN).contains(time));
        Thread { process, time_origin, ..Thread::named(name, trace) }
    }
}

impl<'de> Deserialize<'de> for Description {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Members<'json> {
            #[serde(borrow)]
            name: Option<&'json RawValue>,
            #[serde(borrow)]
            pid: Option<&'json RawValue>,
            #[serde(borrow)]
            tid: Option<&'json RawValue>,
            #[serde(borrow)]
            command: Option<&'json RawValue>,
            #[serde(borrow)]
            time_origin: Option<&'json RawValue>,
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
            time_origin: parse(members.time_origin),
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
