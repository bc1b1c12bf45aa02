//! A finished trace, in the format that a program asked for.

use napi::bindgen_prelude::{Either, Uint8Array};
use napi_derive::napi;
use selfprof_formats::w3c::{self, WriteOptions};
use selfprof_trace::Micros;

use super::finished::FinishedTrace;
use super::trace_columns::TraceColumns;
use crate::entries::collected_entries::EntryColumns;

/// What `stop()` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// The dictionaries of the specification.
    Object,
    /// The same as JSON, compressed with gzip.
    JsonGzip,
}

impl OutputFormat {
    /// The format with this name in JavaScript.
    pub fn named(name: &str) -> Self {
        if name == "json-gzip" { Self::JsonGzip } else { Self::Object }
    }
}

/// A trace in the format that was asked for.
#[napi(object, object_from_js = false)]
pub struct TraceOutput {
    /// The columns for [`OutputFormat::Object`], or the bytes for [`OutputFormat::JsonGzip`].
    pub trace: Either<TraceColumns, Uint8Array>,
    /// The time of the last sample in a chunk, in milliseconds, if there were chunks.
    pub last_chunk_end: Option<f64>,
    /// How many samples V8 took but could not keep.
    pub lost: f64,
    /// Whether its tables were full, so that later samples are missing.
    pub has_full_tables: bool,
}

impl TraceOutput {
    /// Does everything that can be done outside the JS thread. `None` when the trace cannot be written.
    pub fn of(finished: FinishedTrace, entries: Option<EntryColumns>, format: OutputFormat) -> Option<Self> {
        let FinishedTrace { mut trace, last_chunk_end, lost, has_full_tables } = finished;
        if let Some(entries) = entries {
            trace.set_entries(Some(entries.into_entries(&trace, last_chunk_end)));
        }
        let trace = match format {
            OutputFormat::Object => Either::A(TraceColumns::from(&trace)),
            OutputFormat::JsonGzip => {
                let mut bytes = Vec::new();
                w3c::write(&trace, &mut bytes, WriteOptions { gzip: true }).ok()?;
                Either::B(bytes.into())
            }
        };
        let last_chunk_end = last_chunk_end.map(Micros::as_millis_f64);
        Some(Self { trace, last_chunk_end, lost: lost as f64, has_full_tables })
    }
}
