//! Recording a thread into a file, for `selfprof run` and `selfprof attach`.

use std::path::Path;
use std::sync::Arc;

use napi::bindgen_prelude::Function;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Error, Result, Status};
use napi_derive::napi;
use selfprof_formats::journal::{Header, Mode, Retention};
use selfprof_session::BufferPolicy;
use selfprof_trace::Micros;

use super::arguments::agent_error;
use crate::agent::lifecycle::{self, StreamOptions};
use crate::agent::thread_agent::Recorder;
use crate::entries::recorder;
use crate::journal::{Journal, JournalLimits};
use crate::recorder_connection::{self, Connection};
use crate::session_request::SessionRequest;
use crate::signals;

/// The options of a streamed recording.
#[napi(object)]
pub struct RecordOptions {
    /// The journal's path.
    pub path: String,
    /// The socket of the recorder. The recording ends when the recorder closes it.
    pub connection: Option<String>,
    /// How many milliseconds to keep at least; absent to keep everything.
    pub keep: Option<f64>,
    /// The length of the periods that get a file each, in milliseconds; absent for one file.
    pub period: Option<f64>,
    /// The requested sample interval, in milliseconds.
    pub sample_interval: f64,
    /// After how many samples recording ends; absent for no limit.
    pub limit: Option<f64>,
    /// How many marks and measures to record at most; absent to record none.
    pub max_entries: Option<f64>,
    /// The thread's id within its process; 0 is the main thread.
    pub thread_id: u32,
    /// The thread's name.
    pub thread_name: String,
    /// The command line of the process.
    pub command: String,
    /// The logging mode that the agent was made with.
    pub mode: String,
    /// `performance.timeOrigin`, in milliseconds since the Unix epoch.
    pub time_origin: f64,
    /// `process.version`.
    pub node: String,
    /// Whether to write what there is when V8's heap nears its limit. Not where something else may have asked V8
    /// before, for nothing but what was asked last happens.
    pub watch_heap_limit: bool,
    /// Whether calls within Node.js's own scripts are folded now, rather than when the recording is read.
    pub fold_node_frames: bool,
}

/// Records this thread into a file until its environment ends, or until the recorder closes the connection; then
/// `onEnd` is called from the event loop. Returns false, and does nothing, if the recorder has closed the connection
/// already.
#[napi(catch_unwind)]
pub fn record(options: RecordOptions, on_end: Option<Function<(), ()>>) -> Result<bool> {
    let result = begin_recording(options, on_end);
    if !matches!(result, Ok(true)) {
        lifecycle::end_if_unused();
    }
    result
}

/// Pauses sampling of this thread and writes what its recordings have, since the program may be about to end or to be
/// replaced.
#[napi(catch_unwind)]
pub fn pause_recordings() {
    lifecycle::pause();
}

/// The program goes on after [`pause_recordings`], and so do its recordings.
#[napi(catch_unwind)]
pub fn resume_recordings() {
    lifecycle::resume();
}

fn begin_recording(options: RecordOptions, on_end: Option<Function<(), ()>>) -> Result<bool> {
    let connection = options.connection.as_deref().map(connect).transpose()?;
    if connection.as_ref().is_some_and(|connection| !connection.is_open()) {
        return Ok(false);
    }
    let requested = Micros::from_millis_f64(options.sample_interval).ok_or_else(|| {
        Error::new(Status::InvalidArg, "the sample interval is not a number of milliseconds")
    })?;
    let header = Header {
        pid: std::process::id(),
        thread_id: options.thread_id.into(),
        interval: selfprof_session::quantise(requested, selfprof_v8::CpuSampler::BASE),
        mode: if options.mode == "lazy" { Mode::Lazy } else { Mode::Eager },
        time_origin_ms: options.time_origin,
        node: options.node,
        entries: options.max_entries.is_some(),
        origin: lifecycle::origin().map_err(agent_error)?,
        thread_name: options.thread_name,
        command: options.command,
    };
    let limits = JournalLimits {
        max_entries: options.max_entries.unwrap_or(0.0) as u64,
        retention: retention(options.keep, options.period),
    };
    let journal = Journal::create(Path::new(&options.path), &header, limits)
        .map_err(|error| Error::new(Status::GenericFailure, format!("{}: {error}", options.path)))?;
    let journal = Arc::new(journal);
    let limit = options.limit.map(|limit| limit as u64);
    let request = SessionRequest {
        interval: requested,
        limit,
        most_stacks: None,
        most_frame_bytes: None,
        policy: BufferPolicy::Stop,
        entries: false,
    };
    let on_end = on_end
        .map(|on_end| on_end.build_threadsafe_function().weak::<true>().callee_handled::<false>().build());
    let recorder = Recorder {
        is_over: connection.as_ref().map(Connection::is_closed).unwrap_or_default(),
        on_end: on_end.transpose()?.map(|on_end| -> Box<dyn Fn()> {
            Box::new(move || {
                on_end.call((), ThreadsafeFunctionCallMode::NonBlocking);
            })
        }),
    };
    let stream = StreamOptions {
        watches_heap_limit: options.watch_heap_limit,
        folds_node_frames: options.fold_node_frames,
    };
    let session = lifecycle::stream(&request, Arc::clone(&journal), recorder, stream).map_err(agent_error)?;
    if options.max_entries.is_some() {
        recorder::begin(session, journal);
    }
    if connection.is_some_and(|connection| !connection.is_open()) {
        // It closed while this recording began.
        lifecycle::stop_streams();
        signals::remove_unused_handlers();
    }
    Ok(true)
}

fn retention(keep: Option<f64>, period: Option<f64>) -> Retention {
    let length = |time: Option<f64>| time.and_then(Micros::from_millis_f64).filter(|time| time.0 > 0);
    match (length(period), length(keep)) {
        (Some(period), _) => Retention::Periods(period),
        (None, Some(keep)) => Retention::Latest(keep),
        (None, None) => Retention::Everything,
    }
}

fn connect(path: &str) -> Result<Connection> {
    recorder_connection::connect(Path::new(path)).map_err(|recorder_connection::Occupied| {
        Error::new(Status::GenericFailure, "selfprof: this process is being recorded already")
    })
}
