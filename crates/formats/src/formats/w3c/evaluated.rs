//! The member `evaluated`, selfprof's own, and the resources without the scripts in it.

use std::io::{self, Write};

use selfprof_trace::foreign::{ForeignTrace, LimitExceeded, Location, Problem, ProblemKind, Remedy};
use selfprof_trace::{Frame, FrameId, ResourceId, Trace, evaluated_script};
use serde_json::value::RawValue;

use super::lists::ForeignList;
use crate::json::write_list;

const LIST: &str = "evaluated";

/// The most characters of an element that are read.
const MAX_LENGTH: usize = 1 << 10;

/// The resources that are written: all but those that stand for evaluated scripts.
pub(super) struct WrittenResources<'trace> {
    urls: Vec<&'trace str>,
    /// By the id in the trace.
    ids: Vec<usize>,
}

impl<'trace> WrittenResources<'trace> {
    pub(super) fn of(trace: &'trace Trace) -> Self {
        let mut resources = Self { urls: Vec::new(), ids: Vec::new() };
        for (_, url) in trace.resources().iter() {
            resources.ids.push(resources.urls.len());
            if evaluated_script(url).is_none() {
                resources.urls.push(url);
            }
        }
        resources
    }

    pub(super) fn id(&self, resource: ResourceId) -> usize {
        self.ids[resource.index()]
    }

    pub(super) fn urls(&self) -> impl Iterator<Item = &'trace str> {
        self.urls.iter().copied()
    }
}

/// Writes the member, followed by a comma, unless there are no such functions.
pub(super) fn write_evaluated(out: &mut impl Write, trace: &Trace) -> io::Result<()> {
    let script = |(id, frame): (FrameId, Frame)| Some((id, frame, trace.evaluated_script(id)?));
    let mut evaluated = trace.frames().iter().filter_map(script).peekable();
    if evaluated.peek().is_none() {
        return Ok(());
    }
    write_list(out, "\"evaluated\":[", evaluated, |out, (id, Frame { line, column, .. }, script)| {
        out.write_all(b"{")?;
        if let Some(column) = column {
            write!(out, "\"column\":{column},")?;
        }
        write!(out, "\"frameId\":{}", id.index())?;
        if let Some(line) = line {
            write!(out, ",\"line\":{line}")?;
        }
        write!(out, ",\"scriptId\":{script}}}")
    })?;
    out.write_all(b"],")
}

/// What was read of the member.
#[derive(Default)]
pub(super) struct ForeignEvaluated {
    list: Vec<Element>,
    is_unreadable: bool,
}

#[derive(Clone, Copy, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Element {
    frame_id: Option<f64>,
    script_id: Option<f64>,
    line: Option<f64>,
    column: Option<f64>,
}

impl ForeignEvaluated {
    /// Gives the functions the resources of their scripts, and reports problems.
    pub(super) fn apply(self, trace: &mut ForeignTrace) {
        if self.is_unreadable {
            let (location, kind) = (Location::Member(LIST), ProblemKind::EvaluatedList);
            trace.report(Problem { location, value: None, kind, remedy: Remedy::NoMember });
        }
        for (index, element) in self.list.into_iter().enumerate() {
            let Element { frame_id, script_id, line, column } = element;
            let [frame, script] = [frame_id, script_id].map(|id| id.unwrap_or(f64::NAN));
            if let Some(kind) = trace.set_evaluated(frame, script, [line, column]) {
                let location = Location::Element { list: LIST, index, member: "frameId" };
                trace.report(Problem { location, value: Some(frame), kind, remedy: Remedy::NoMember });
            }
        }
    }
}

impl ForeignList for ForeignEvaluated {
    type Element = Box<RawValue>;
    const EXPECTED: &'static str = "a list of evaluated functions";

    fn push(&mut self, element: Box<RawValue>, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        LimitExceeded::check("evaluated functions", self.list.len(), trace.limits().frames)?;
        let text = Some(element.get()).filter(|text| text.len() <= MAX_LENGTH);
        self.list.push(text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default());
        Ok(())
    }

    fn set_unreadable(&mut self) {
        self.is_unreadable = true;
    }
}
