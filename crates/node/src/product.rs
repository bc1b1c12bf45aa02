//! What JavaScript is given of a finished recording, made on the building thread.

use napi::bindgen_prelude::{Either, Float64Array, Uint8Array, Uint32Array};
use napi_derive::napi;
use selfprof_formats::w3c::{self, WriteOptions};
use selfprof_trace::Trace;

use crate::builder::Finished;

/// What a program wants of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The dictionaries of the specification.
    Object,
    /// The same as JSON, compressed with gzip.
    JsonGzip,
}

impl Format {
    /// The format that JavaScript calls so.
    pub fn named(name: &str) -> Self {
        if name == "json-gzip" { Self::JsonGzip } else { Self::Object }
    }
}

/// A trace in the format that was asked for.
#[napi(object, object_from_js = false)]
pub struct Product {
    /// The columns of [`Format::Object`], or the bytes of [`Format::JsonGzip`].
    pub trace: Either<TraceColumns, Uint8Array>,
    /// How many samples V8 took but could not keep.
    pub lost: f64,
}

impl Product {
    /// Does all that can be done away from the JS thread. `None` when the trace cannot be written.
    pub fn of(finished: Finished, format: Format) -> Option<Self> {
        let Finished { trace, lost } = finished;
        let trace = match format {
            Format::Object => Either::A(TraceColumns::from(&trace)),
            Format::JsonGzip => {
                let mut bytes = Vec::new();
                w3c::write(&trace, &mut bytes, WriteOptions { gzip: true }).ok()?;
                Either::B(bytes.into())
            }
        };
        Some(Self { trace, lost: lost as f64 })
    }
}

/// A trace in columns, which `npm/lib/trace.cjs` turns into the dictionaries of the specification.
#[napi(object, object_from_js = false)]
pub struct TraceColumns {
    /// Function names.
    pub names: Vec<String>,
    /// Script URLs.
    pub resources: Vec<String>,
    /// Four numbers a frame: name, resource + 1 or 0, line or 0, column or 0.
    pub frames: Uint32Array,
    /// Two numbers a stack: parent + 1 or 0, frame.
    pub stacks: Uint32Array,
    /// Milliseconds since the time origin, one a sample.
    pub timestamps: Float64Array,
    /// Stack + 1 or 0, one a sample.
    pub stack_ids: Uint32Array,
    /// [`selfprof_trace::Marker`] + 1 or 0, one a sample.
    pub markers: Uint8Array,
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
        }
    }
}
