//! What JavaScript sees. `npm/lib/native.cjs` is the only caller; it passes what it has converted and checked.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use napi::bindgen_prelude::{Function, PromiseRaw};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Error, JsValue, Result, Status};
use napi_derive::napi;
use selfprof_formats::journal::{Header, Mode};
use selfprof_session::{AdmitScripts, BufferPolicy, InitOptions, Instant, Reach, RealmId, SessionId};
use selfprof_trace::{Marker, Micros};
use selfprof_v8::LoggingMode;

use crate::agent::{self, AgentOptions, Audience, Wishes};
use crate::chunks::Backlog;
use crate::entries::{self, CollectedEntries, EntryColumns, Recorder};
use crate::journal::Journal;
use crate::product::{self, ExplainerOptions, Format, Product, TraceColumns};
use crate::realms;
use crate::threads::{self, Portion, ProfilingId, Thread};

/// The `process.versions.modules` that this addon was built for. A Node of another major may load it without a word.
#[napi]
pub fn built_for() -> u32 {
    selfprof_v8::built_for()
}

/// Now, on the clock of sample timestamps, in milliseconds.
#[napi]
pub fn now() -> f64 {
    selfprof_v8::now().0 as f64 / 1e3
}

/// What every agent offers.
#[napi(object)]
pub struct Offers {
    /// The shortest sample interval, in milliseconds; all others are multiples of it.
    pub base_interval: f64,
    /// The grid of sample timestamps, in milliseconds.
    pub time_resolution: f64,
}

/// What every agent offers, before there is one.
#[napi]
pub fn offers() -> Offers {
    Offers {
        base_interval: selfprof_v8::CpuSampler::BASE.as_millis_f64(),
        time_resolution: agent::RESOLUTION.as_millis_f64(),
    }
}

/// Makes the agent of the calling thread, unless it has one.
///
/// `hostScripts` are the prefixes of the URLs of scripts that are host code: their frames are folded into one with a name
/// alone. `timeOrigin` is the thread's time origin on the clock of [`now`], in milliseconds. `threadId` and `threadName` are
/// what others find the thread under. `onEntriesWanted()` is called from the event loop when it has changed whether marks and
/// measures [are wanted](crate::entries). `samplerScripts` are the prefixes of those that are left out, and `workScripts` those
/// in whose functions the host does work, by marker. Gives false when the thread has an agent.
#[napi(catch_unwind)]
#[allow(clippy::too_many_arguments)] // Called once, by npm/lib/agent.cjs.
pub fn begin(
    mode: String,
    host_scripts: Vec<String>,
    time_origin: f64,
    thread_id: u32,
    thread_name: String,
    on_entries_wanted: Function<(), ()>,
    sampler_scripts: Option<Vec<String>>,
    work_scripts: Option<HashMap<String, String>>,
) -> Result<bool> {
    let admission = AdmitScripts::except(host_scripts.iter().map(String::as_str))
        .without(sampler_scripts.unwrap_or_default().iter().map(String::as_str));
    let on_entries_wanted =
        on_entries_wanted.build_threadsafe_function().weak::<true>().callee_handled::<false>().build()?;
    let options = AgentOptions {
        mode: if mode == "lazy" { LoggingMode::Lazy } else { LoggingMode::Eager },
        admission: work_scripts.iter().flatten().try_fold(admission, |admission, (marker, script)| {
            Ok::<_, Error>(admission.with_work(script, to_marker(marker)?))
        })?,
        origin: Instant(Micros::from_millis_f64(time_origin).unwrap_or_default().0),
        thread: Thread { id: thread_id, name: thread_name },
        on_entries_wanted: Box::new(move || {
            on_entries_wanted.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }),
    };
    agent::begin(options).map_err(failure)
}

/// Those who opened sessions and want to hear of them: one for each loaded copy of the package. Test runners load it anew
/// for each file, in the same thread.
#[napi]
pub struct Listener {
    audience: Arc<Audience>,
}

#[napi]
impl Listener {
    /// `onFull(session)` is called from the event loop when a session's buffer is full, `onChunk(session)` when chunks of
    /// it wait.
    #[napi(constructor)]
    pub fn new(on_full: Function<u32, ()>, on_chunk: Function<u32, ()>) -> Result<Self> {
        let audience = Audience { on_full: from_any_thread(on_full)?, on_chunk: from_any_thread(on_chunk)? };
        Ok(Self { audience: Arc::new(audience) })
    }
}

/// Lets any thread have a function called from the event loop of its own.
fn from_any_thread(function: Function<u32, ()>) -> Result<Box<dyn Fn(SessionId) + Send + Sync>> {
    let function = function
        .build_threadsafe_function()
        // A profiler must not keep a program alive that has nothing else to do.
        .weak::<true>()
        .callee_handled::<false>()
        .build()?;
    Ok(Box::new(move |SessionId(id)| {
        function.call(id, ThreadsafeFunctionCallMode::NonBlocking);
    }))
}

/// The chunks of one session, as JavaScript holds them.
#[napi]
#[derive(Default)]
pub struct Chunks {
    backlog: Arc<Backlog>,
}

#[napi]
impl Chunks {
    /// For a session that is to be opened with it.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }
}

/// Takes the oldest chunk of a session that waits, if one does.
#[napi(catch_unwind)]
pub fn take_chunk(session: u32, chunks: &Chunks) -> Option<TraceColumns> {
    let (chunk, resting) = chunks.backlog.take();
    if resting {
        agent::go_on(SessionId(session));
    }
    chunk
}

/// An open session.
#[napi(object)]
pub struct OpenSession {
    /// Its id, for [`close`] and [`abandon`].
    pub id: u32,
    /// The sample interval it got, in milliseconds.
    pub sample_interval: f64,
}

/// What a session is opened with. The numbers come as `ToNumber` left them.
#[napi(object, object_to_js = false)]
pub struct OpenOptions {
    /// The sample interval asked for, in milliseconds.
    pub sample_interval: f64,
    /// The sample buffer size limit, in samples.
    pub max_buffer_size: f64,
    /// What happens when it is reached.
    pub buffer_policy: String,
    /// The realm that opens it; absent for one of the thread itself.
    pub realm: Option<u32>,
    /// Whether it sees the realms of its realm's origin group too.
    pub include_same_origin_frames: Option<bool>,
    /// How many chunks may wait.
    pub max_chunks: Option<u32>,
    /// Whether marks and measures are wanted of all threads. Of its own session JavaScript collects them.
    pub include_entries: Option<bool>,
}

impl OpenOptions {
    /// What is left of WebIDL's conversions, and the checks of the constructor.
    fn convert(&self) -> std::result::Result<Wishes, Error<String>> {
        let converted = InitOptions::convert(Some(self.sample_interval), Some(self.max_buffer_size))
            .map_err(|error| Error::new(error.constructor().to_owned(), error.to_string()))?;
        let policy = match &*self.buffer_policy {
            "circular" => BufferPolicy::Circular,
            "chunks" => BufferPolicy::Chunks { most_waiting: self.max_chunks.unwrap_or_default() },
            _ => BufferPolicy::Stop,
        };
        let limit = Some(converted.max_buffer_size.into());
        let entries = self.include_entries.unwrap_or(false);
        Ok(Wishes { interval: converted.sample_interval, limit, policy, entries })
    }
}

/// Opens a session, with `chunks` if its full buffers are to become some.
///
/// Throws an error whose `code` is `TypeError` or `RangeError` when the options fail a check.
#[napi(catch_unwind)]
pub fn open(
    options: OpenOptions,
    listener: &Listener,
    chunks: Option<&Chunks>,
) -> std::result::Result<OpenSession, Error<String>> {
    let wishes = options.convert()?;
    let reach =
        if options.include_same_origin_frames == Some(true) { Reach::SameOrigin } else { Reach::Realm };
    let view = options.realm.map(|realm| realms::view(RealmId(realm), reach)).transpose();
    let view = view.map_err(|error| Error::new("TypeError".to_owned(), error.to_string()))?;
    let backlog = chunks.map(|chunks| Arc::clone(&chunks.backlog));
    let (session, interval) = agent::open(&wishes, view, Arc::clone(&listener.audience), backlog)
        .map_err(|error| Error::new("TypeError".to_owned(), error.to_string()))?;
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
) -> Result<PromiseRaw<'_, Product>> {
    let format = Format::named(&format);
    // First, because a promise that is never settled would keep the program alive.
    let stopped = agent::close(SessionId(session)).map_err(failure)?;
    let (deferred, promise) = env.create_deferred::<Product, _>()?;
    let entries = entries.map(EntryColumns::from);
    stopped.build(move |finished| {
        match finished.and_then(|finished| Product::of(finished, entries, format)) {
            Some(product) => deferred.resolve(move |_| Ok(product)),
            None => deferred.reject(Error::new(Status::GenericFailure, "the trace could not be built")),
        }
    });
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// A profiling of all threads.
#[napi(object)]
pub struct ThreadsProfiling {
    /// Its id, for the functions below.
    pub id: u32,
    /// The sample interval that each thread got, in milliseconds.
    pub sample_interval: f64,
}

/// Asks all threads that have an agent to join a profiling, this one among them.
///
/// Throws an error whose `code` is `TypeError` or `RangeError` when the options fail a check.
#[napi(catch_unwind)]
pub fn profile_threads(options: OpenOptions) -> std::result::Result<ThreadsProfiling, Error<String>> {
    let (id, interval) = agent::profile_threads(options.convert()?)
        .map_err(|error| Error::new("TypeError".to_owned(), error.to_string()))?;
    Ok(ThreadsProfiling { id: id.0, sample_interval: interval.as_millis_f64() })
}

/// The promise is resolved when all threads have joined, or [`give_up_on_threads`] was called.
#[napi(catch_unwind)]
pub fn threads_started(env: &Env, profiling: u32) -> Result<PromiseRaw<'_, ()>> {
    let (deferred, promise) = env.create_deferred::<(), _>()?;
    threads::when_started(ProfilingId(profiling), Box::new(move || deferred.resolve(|_| Ok(()))));
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// What one thread recorded.
#[napi(object, object_from_js = false)]
pub struct ThreadPortion {
    /// `threadId` of `node:worker_threads`.
    pub thread_id: u32,
    /// The thread's name.
    pub name: String,
    /// Its trace, absent when it did not answer in time.
    pub product: Option<Product>,
}

/// Asks all threads to leave a profiling. The promise gives what they recorded, in this format, when they have, or
/// [`give_up_on_threads`] was called.
#[napi(catch_unwind)]
pub fn stop_threads(env: &Env, profiling: u32, format: String) -> Result<PromiseRaw<'_, Vec<ThreadPortion>>> {
    let format = Format::named(&format);
    let (deferred, promise) = env.create_deferred::<Vec<ThreadPortion>, _>()?;
    agent::stop_threads(ProfilingId(profiling), move |portions| {
        let portion = |Portion { thread, finished }: Portion| ThreadPortion {
            thread_id: thread.id,
            name: thread.name,
            product: finished.and_then(|finished| Product::of(finished, None, format)),
        };
        let portions: Vec<_> = portions.into_iter().map(portion).collect();
        deferred.resolve(move |_| Ok(portions));
    });
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// As [`stop_threads`], but the promise gives all traces in one text, in the explainer's format.
#[napi(catch_unwind)]
pub fn explain_threads(
    env: &Env,
    profiling: u32,
    options: ExplainerOptions,
) -> Result<PromiseRaw<'_, String>> {
    let (deferred, promise) = env.create_deferred::<String, _>()?;
    agent::stop_threads(ProfilingId(profiling), move |portions| match product::explain(portions, &options) {
        Some(text) => deferred.resolve(move |_| Ok(text)),
        None => {
            deferred.reject(Error::new(Status::GenericFailure, "the profile could not be written"));
        }
    });
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// Threads that have not answered are waited for no longer.
#[napi(catch_unwind)]
pub fn give_up_on_threads(profiling: u32) {
    threads::give_up(ProfilingId(profiling));
}

/// Has all threads leave a profiling and forgets what they recorded.
#[napi(catch_unwind)]
pub fn cancel_threads(profiling: u32) {
    agent::cancel_threads(ProfilingId(profiling));
}

/// Stops a session and forgets what it recorded.
#[napi(catch_unwind)]
pub fn abandon(session: u32) {
    agent::abandon(SessionId(session));
}

/// Frees what V8 still holds of profiles that have been read: a few milliseconds for a profile of thousands of stacks, to
/// be spent when nobody waits.
#[napi(catch_unwind)]
pub fn bury() {
    agent::bury();
}

/// What a streamed recording is made with.
#[napi(object)]
pub struct RecordOptions {
    /// The journal's path.
    pub path: String,
    /// The sample interval asked for, in milliseconds.
    pub sample_interval: f64,
    /// After how many samples recording ends; absent for no limit.
    pub limit: Option<f64>,
    /// How many marks and measures to record at most; absent for none at all.
    pub max_entries: Option<f64>,
    /// The thread's id within its process; 0 is the main thread.
    pub thread_id: u32,
    /// The logging mode that the agent was made with.
    pub mode: String,
    /// `performance.timeOrigin`, in milliseconds since the Unix epoch.
    pub time_origin: f64,
    /// `process.version`.
    pub node: String,
}

/// Records this thread into a file until its environment ends.
#[napi(catch_unwind)]
pub fn record(options: RecordOptions) -> Result<()> {
    let asked = Micros::from_millis_f64(options.sample_interval).ok_or_else(|| {
        Error::new(Status::InvalidArg, "the sample interval is not a number of milliseconds")
    })?;
    let interval = selfprof_session::quantise(asked, selfprof_v8::CpuSampler::BASE);
    let header = Header {
        pid: std::process::id(),
        thread_id: options.thread_id.into(),
        interval,
        mode: if options.mode == "lazy" { Mode::Lazy } else { Mode::Eager },
        time_origin_ms: options.time_origin,
        node: options.node,
        entries: options.max_entries.is_some(),
    };
    let max_entries = options.max_entries.unwrap_or(0.0) as u64;
    let journal = Journal::create(Path::new(&options.path), &header, max_entries)
        .map_err(|error| Error::new(Status::GenericFailure, format!("{}: {error}", options.path)))?;
    let journal = Arc::new(journal);
    let limit = options.limit.map(|limit| limit as u64);
    let wishes = Wishes { interval: asked, limit, policy: BufferPolicy::Stop, entries: false };
    agent::open_journal(&wishes, Arc::clone(&journal)).map_err(failure)?;
    if options.max_entries.is_some() {
        entries::begin(Recorder::Journal(journal));
    }
    Ok(())
}

/// CPU time of the calling thread so far, in milliseconds: the benchmarks' clock. Node 20 has none for a single thread, and
/// /proc counts in ticks of the scheduler.
#[napi(catch_unwind)]
pub fn thread_cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is written before the call returns.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

pub fn failure(error: agent::AgentError) -> Error {
    Error::new(Status::GenericFailure, error.to_string())
}

/// The marker of this name.
pub fn to_marker(name: &str) -> Result<Marker> {
    name.parse().map_err(|error| Error::new(Status::InvalidArg, format!("'{name}' is {error}")))
}
