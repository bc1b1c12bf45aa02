//! A trace in columns.

use napi::bindgen_prelude::{Float64Array, Uint8Array, Uint32Array};
use napi_derive::napi;
use selfprof_trace::Trace;

use crate::entries::collected_entries::CollectedEntries;

/// A trace in columns. JavaScript turns them into the dictionaries of the specification.
#[napi(object, object_from_js = false)]
pub struct TraceColumns {
    /// Function names.
    pub names: Vec<String>,
    /// Script URLs.
    pub resources: Vec<String>,
    /// Four numbers per frame: name, resource + 1 or 0, line or 0, column or 0.
    pub frames: Uint32Array,
    /// Two numbers per stack: parent + 1 or 0, frame.
    pub stacks: Uint32Array,
    /// One number per sample: milliseconds since the time origin.
    pub timestamps: Float64Array,
    /// One number per sample: stack + 1 or 0.
    pub stack_ids: Uint32Array,
    /// One number per sample: [`selfprof_trace::Marker`] + 1 or 0.
    pub markers: Uint8Array,
    /// The marks and measures, if they were collected here. JavaScript still has those that it collected itself.
    pub entries: Option<CollectedEntries>,
}

impl From<&Trace> for TraceColumns {
    fn from(trace: &Trace) -> Self {
        let plus_one = |index: Option<usize>| index.map_or(0, |index| index as u32 + 1);
        let frames = trace.frames().iter().flat_map(|(_, frame)| {
            let position = |number: Option<std::num::NonZeroU32>| number.map_or(0, std::num::NonZeroU32::get);
            [
                frame.name.index() as u32,
                plus_one(frame.resource.map(|id| id.index())),
                position(frame.line),
                position(frame.column),
            ]
        });
        let stacks = trace
            .stacks()
            .iter()
            .flat_map(|(_, stack)| [plus_one(stack.parent.map(|id| id.index())), stack.frame.index() as u32]);
        let samples = trace.samples();
        Self {
            names: trace.names().iter().map(|(_, name)| name.to_owned()).collect(),
            resources: trace.resources().iter().map(|(_, url)| url.to_owned()).collect(),
            frames: frames.collect::<Vec<_>>().into(),
            stacks: stacks.collect::<Vec<_>>().into(),
            timestamps: samples
                .iter()
                .map(|sample| sample.timestamp.as_millis_f64())
                .collect::<Vec<_>>()
                .into(),
            stack_ids: samples
                .iter()
                .map(|sample| plus_one(sample.stack.map(|id| id.index())))
                .collect::<Vec<_>>()
                .into(),
            markers: samples
                .iter()
                .map(|sample| sample.marker.map_or(0, |marker| marker as u8 + 1))
                .collect::<Vec<_>>()
                .into(),
            entries: trace.entries().map(CollectedEntries::from),
        }
    }
}
