//! Profiling sessions of the calling thread.

use std::sync::Arc;

use napi::bindgen_prelude::{Object, PromiseRaw};
use napi::{Env, Error, JsValue, Result, Status};
use napi_derive::napi;
use selfprof_session::{BufferPolicy, InitOptions, Reach, RealmId, SessionId};

use super::addon_name;
use super::arguments::agent_error;
use super::listener;
use crate::agent::current;
use crate::entries::collected_entries::{CollectedEntries, EntryColumns};
use crate::output::chunk_queue::ChunkQueue;
use crate::output::trace_columns::TraceColumns;
use crate::output::trace_output::{OutputFormat, TraceOutput};
use crate::pages::realms;
use crate::session_request::SessionRequest;

/// The chunks of one session, as JavaScript holds them.
#[napi]
#[derive(Default)]
pub struct Chunks {
    queue: Arc<ChunkQueue>,
}

#[napi]
impl Chunks {
    /// For a session that will be opened with it.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }
}

/// Takes the oldest chunk of a session, if there is one.
#[napi(catch_unwind)]
pub fn take_chunk(session: u32, chunks: &Chunks) -> Option<TraceColumns> {
    let (chunk, was_paused) = chunks.queue.take();
    // Nothing else makes room.
    if was_paused && chunk.is_some() {
        current::if_any(|agent| agent.continue_after_chunk(SessionId(session)));
    }
    chunk
}

/// An open session.
#[napi(object)]
pub struct OpenSession {
    /// Its id, for [`close`] and [`abandon`].
    pub id: u32,
    /// The actual sample interval, in milliseconds.
    pub sample_interval: f64,
}

/// The options of a session. The numbers are the results of `ToNumber`.
#[napi(object, object_to_js = false)]
pub struct OpenOptions {
    /// The requested sample interval, in milliseconds.
    pub sample_interval: f64,
    /// The sample buffer size limit, in samples.
    pub max_buffer_size: f64,
    /// How many stacks the buffer may hold; absent for no limit.
    pub max_stacks: Option<u32>,
    /// How many bytes its frames may take, with their names and the URLs of their scripts; absent for no limit.
    pub max_frame_bytes: Option<u32>,
    /// What happens when the buffer is full.
    pub buffer_policy: String,
    /// The realm that opens it; absent for a session of the thread itself.
    pub realm: Option<u32>,
    /// Whether it sees all realms of its realm's origin group.
    pub include_same_origin_frames: Option<bool>,
    /// How many chunks may wait.
    pub max_chunks: Option<u32>,
    /// Whether all threads must record marks and measures. For its own session JavaScript collects them.
    pub include_entries: Option<bool>,
}

impl OpenOptions {
    /// The rest of WebIDL's conversions, and the checks of the constructor.
    pub fn convert(&self) -> std::result::Result<SessionRequest, Error<String>> {
        let converted = InitOptions::convert(Some(self.sample_interval), Some(self.max_buffer_size))
            .map_err(|error| Error::new(error.constructor().to_owned(), error.to_string()))?;
        let policy = match &*self.buffer_policy {
            "circular" => BufferPolicy::Circular,
            "chunks" => BufferPolicy::Chunks { most_waiting: self.max_chunks.unwrap_or_default() },
            _ => BufferPolicy::Stop,
        };
        let limit = Some(converted.max_buffer_size.into());
        Ok(SessionRequest {
            interval: converted.sample_interval,
            limit,
            most_stacks: self.max_stacks.map(|most| most as usize),
            most_frame_bytes: self.max_frame_bytes.map(|most| most as usize),
            policy,
            entries: self.include_entries.unwrap_or(false),
        })
    }
}

/// Opens a session. With `chunks`, its full buffers become chunks. `listener.onFull(session)` is called from the event
/// loop when its buffer is full, `listener.onChunk(session)` when chunks can be taken; the listener is kept alive until
/// the session has ended.
///
/// Throws an error whose `code` is `TypeError` or `RangeError` when the options fail a check.
#[napi(catch_unwind)]
pub fn open(
    env: &Env,
    options: OpenOptions,
    listener: Object,
    chunks: Option<&Chunks>,
) -> std::result::Result<OpenSession, Error<String>> {
    let request = options.convert()?;
    let reach =
        if options.include_same_origin_frames == Some(true) { Reach::SameOrigin } else { Reach::Realm };
    let type_error = |error: &dyn ToString| Error::new("TypeError".to_owned(), error.to_string());
    let view = options.realm.map(|realm| realms::view(RealmId(realm), reach)).transpose();
    let view = view.map_err(|error| type_error(&error))?;
    let queue = chunks.map(|chunks| Arc::clone(&chunks.queue));
    // In lazy mode, V8 begins to log functions now.
    addon_name::claim(env).map_err(|error| type_error(&error.reason))?;
    let (session, interval) =
        current::with(|agent| Ok(agent.open(&request, view, queue)?)).map_err(|error| type_error(&error))?;
    listener::listen(env, session, &listener).map_err(|error| type_error(&error.reason))?;
    Ok(OpenSession { id: session.0, sample_interval: interval.as_millis_f64() })
}

/// Stops a session. The promise, which keeps the program alive, gives its trace in this format, with these marks and
/// measures.
#[napi(catch_unwind)]
pub fn close(
    env: &Env,
    session: u32,
    format: String,
    entries: Option<CollectedEntries>,
) -> Result<PromiseRaw<'_, TraceOutput>> {
    let format = OutputFormat::named(&format);
    // The promise is made after this can fail no more: one that is never settled would keep the program alive.
    let stopped = current::with(|agent| Ok(agent.close(SessionId(session))?)).map_err(agent_error)?;
    let (deferred, promise) = env.create_deferred::<TraceOutput, _>()?;
    let entries = entries.map(EntryColumns::from);
    stopped.build(move |finished| {
        match finished.and_then(|finished| TraceOutput::of(finished, entries, format)) {
            Some(output) => deferred.resolve(move |_| Ok(output)),
            None => deferred.reject(Error::new(Status::GenericFailure, "the trace could not be built")),
        }
    });
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// Stops a session and discards what it recorded.
#[napi(catch_unwind)]
pub fn abandon(session: u32) {
    current::if_any(|agent| agent.abandon(SessionId(session)));
}

/// Frees what V8 still holds of profiles that have been read. This takes a few milliseconds for a profile of thousands
/// of stacks, so it is called when nothing waits for it.
#[napi(catch_unwind)]
pub fn release_read_profiles() {
    current::if_any(|agent| agent.release_read_profiles());
}
