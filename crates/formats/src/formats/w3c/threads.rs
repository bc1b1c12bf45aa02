//! What is read of the members `thread` and `threads`, which are selfprof's own.

use selfprof_trace::Trace;
use selfprof_trace::foreign::{Problem, Problems};
use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::elements::parse;
use crate::json::Text;
use crate::thread::{Process, Thread};

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
