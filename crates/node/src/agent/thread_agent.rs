//! The profiling sessions of one JS thread, and the V8 sampler that they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selfprof_session::{
    AdmitScripts, BufferPolicy, Cut, Group, GroupError, Instant, RealmId, RecordingCell, RecordingOptions,
    SamplerError, SessionId, SessionOptions, quantise,
};
use selfprof_trace::Micros;
use selfprof_v8::{CpuSampler, Environment, HeapLimitWatch, MappingUrls, Profile, SampleLabels};

use super::delivery;
use super::map_copier::MapCopier;
use super::notifier::Notifier;
use super::run_length::{LONGEST_RUN, RunLength};
use super::tick_times::TickTimes;
use crate::agent_key::AgentKey;
use crate::building_thread;
use crate::entries::recorder;
use crate::entries::store::EntryStore;
use crate::journal::{Journal, StreamedRecording};
use crate::label_sets::LabelSets;
use crate::output::chunk_queue::{ChunkQueue, ChunkedRecording};
use crate::output::finished::{FinishedTrace, ThreadRecording, finish};
use crate::session_request::{SessionRequest, SessionView};
use crate::thread_usage::thread_cpu_time;

/// How long the building thread usually takes at most to read a segment. Less than the shortest run, since the next one
/// would free the profile before it is measured how long that takes.
const RELEASE_AFTER: Micros = Micros(50_000);

/// V8 processes a sample within an interval or two, unless the machine is busy. An interval is 1 ms or more.
const RETIRE_AFTER: Micros = Micros(5_000);

/// How many characters of source maps are copied at a time, which takes a fraction of a millisecond, and the pause
/// after that.
const COPIED_AT_A_TIME: usize = 1 << 19;
const COPY_PAUSE: Micros = Micros(50_000);

/// The agent of one JS thread. Lives until its environment is torn down or the process ends; only its own thread
/// touches it.
pub struct Agent {
    group: Group<CpuSampler>,
    /// A cut whose run has not ended yet, and how long to wait until it is looked at again.
    retired: Option<(Cut<Profile>, Micros)>,
    view: SessionView,
    /// What recordings of a whole program show.
    of_program: AdmitScripts,
    notifier: Arc<Notifier>,
    on_entries_wanted: Box<dyn Fn()>,
    /// `None` unless a recording is streamed.
    map_copier: Option<MapCopier>,
    run_length: RunLength,
    /// What its ticks took.
    pub ticks: TickTimes,
    /// `None` unless a recording is streamed.
    recorder: Option<Recorder>,
    /// `None` unless a recording is streamed that asked for it. Dropped with the agent, so before the isolate ends.
    heap_limit: Option<HeapLimitWatch>,
    is_temporary: bool,
    label_sets: Arc<LabelSets>,
}

/// Who asked for a streamed recording.
pub struct Recorder {
    /// Whether it no longer wants the recording. Another thread sets it.
    pub is_over: Arc<AtomicBool>,
    /// Notifies JavaScript that the recording has ended and the thread goes on.
    pub on_end: Option<Box<dyn Fn()>>,
}

/// A session that was stopped and whose trace is still to be built.
pub struct StoppedSession {
    session: SessionId,
    cell: Arc<RecordingCell>,
    notifier: Arc<Notifier>,
}

impl StoppedSession {
    /// Requests the trace. `done` receives it on the building thread, `None` when building it failed or the thread has
    /// ended meanwhile.
    pub fn build(self, done: impl FnOnce(Option<FinishedTrace>) + Send + 'static) {
        let Self { session, cell, notifier } = self;
        let queue = notifier.chunked(session).map(|chunked| chunked.queue);
        building_thread::run(move || {
            let finished = if notifier.has_ended() { None } else { finish(&cell, queue.as_deref()) };
            // The scripts of a closed realm are forgotten with its last recording, so before anything is notified of
            // the trace.
            drop(cell);
            notifier.session_ended(session);
            done(finished);
        });
    }
}

impl Agent {
    /// An agent without sessions. `view` is what its own sessions see, and `of_program` what recordings of a whole
    /// program show; `on_entries_wanted` makes JavaScript check soon whether marks and measures must be recorded.
    pub fn new(
        sampler: CpuSampler,
        view: SessionView,
        of_program: AdmitScripts,
        notifier: Arc<Notifier>,
        on_entries_wanted: Box<dyn Fn()>,
    ) -> Self {
        let run_length = RunLength::default();
        let mut group = Group::new(sampler);
        group.set_longest_run(run_length.longest());
        Self {
            group,
            retired: None,
            view,
            of_program,
            notifier,
            on_entries_wanted,
            map_copier: None,
            run_length,
            ticks: TickTimes::default(),
            recorder: None,
            heap_limit: None,
            is_temporary: false,
            label_sets: Arc::default(),
        }
    }

    /// Its key.
    pub fn key(&self) -> AgentKey {
        self.notifier.key()
    }

    /// Samples have labels from now on, which `begin` finds a way to read. Returns what it does; false if the thread
    /// can have none.
    pub fn read_labels(&mut self, begin: impl FnOnce(&mut SampleLabels) -> bool) -> bool {
        let labels = Environment::current()
            .and_then(|environment| SampleLabels::new(&environment, Arc::clone(&self.label_sets) as _));
        let Some(mut labels) = labels else { return false };
        let can_read = begin(&mut labels);
        if can_read {
            self.group.sampler().set_labels(Some(labels));
        }
        can_read
    }

    /// What the labels of samples stand for.
    pub fn label_sets(&self) -> &LabelSets {
        &self.label_sets
    }

    /// How other threads reach it.
    pub fn notifier(&self) -> &Arc<Notifier> {
        &self.notifier
    }

    /// Sets whether the agent ends with its streamed recording.
    pub fn set_temporary(&mut self, is_temporary: bool) {
        self.is_temporary = is_temporary;
    }

    /// Whether it was made for a streamed recording only, and has no session any more.
    pub fn is_unused(&self) -> bool {
        self.is_temporary && self.group.sessions().next().is_none()
    }

    /// The time origin of the thread's `performance`.
    pub fn origin(&self) -> Instant {
        self.view.origin
    }

    /// When its sessions must be checked next.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.group.next_deadline()
    }

    /// Opens a session. It has the view of a realm, or else the thread's. With `chunks`, its full buffers become
    /// chunks. Returns its id and its actual interval.
    pub fn open(
        &mut self,
        request: &SessionRequest,
        view: Option<SessionView>,
        chunks: Option<Arc<ChunkQueue>>,
    ) -> Result<(SessionId, Micros), SamplerError> {
        let view = view.unwrap_or_else(|| self.view.clone());
        let (session, interval, cell) = self.join(request, view, false)?;
        if let Some(queue) = chunks {
            self.notifier.add_chunked(session, ChunkedRecording { cell, queue });
        }
        Ok((session, interval))
    }

    /// Opens a session whose samples are streamed into `journal`, with the source maps of scripts that are in `urls`.
    pub fn open_stream(
        &mut self,
        request: &SessionRequest,
        journal: Arc<Journal>,
        urls: Option<MappingUrls>,
        (recorder, folds_node_frames): (Recorder, bool),
    ) -> Result<SessionId, SamplerError> {
        if let Some(urls) = urls {
            self.map_copier = Some(MapCopier::new(urls, Arc::clone(&journal)));
        }
        let of_program = self.of_program.clone();
        let of_program = if folds_node_frames { of_program } else { of_program.showing("node:") };
        let view = SessionView { admission: Arc::new(of_program), ..self.view.clone() };
        self.group.sampler().set_cpu_times(true);
        self.run_length.begin_stream();
        self.group.set_longest_run(self.run_length.longest());
        let (session, _, cell) = self.join(request, view, true)?;
        self.notifier.add_stream(session, StreamedRecording { cell, journal });
        self.recorder = Some(recorder);
        Ok(session)
    }

    /// Calls `hook` when the thread's heap nears its limit, until its streamed recording ends.
    pub fn watch_heap_limit(&mut self, hook: fn()) {
        if self.heap_limit.is_none() {
            self.heap_limit =
                Environment::current().map(|environment| HeapLimitWatch::new(&environment, hook));
        }
    }

    /// Opens a session for a profile of all threads, whose timestamps count from `origin`.
    pub fn join_profile(
        &mut self,
        request: &SessionRequest,
        origin: Instant,
    ) -> Result<(SessionId, ThreadRecording), SamplerError> {
        let view = SessionView { origin, ..self.view.clone() };
        let (session, _, cell) = self.join(request, view, false)?;
        let entries = request.entries.then(|| {
            let is_circular = request.policy == BufferPolicy::Circular;
            let limit = request.limit.unwrap_or(u64::MAX);
            let store = Arc::new(EntryStore::of_session(limit, is_circular, self.now()));
            recorder::begin(session, Arc::clone(&store) as _);
            (self.on_entries_wanted)();
            store
        });
        Ok((session, ThreadRecording { cell, entries }))
    }

    fn join(
        &mut self,
        request: &SessionRequest,
        view: SessionView,
        waiting: bool,
    ) -> Result<(SessionId, Micros, Arc<RecordingCell>), SamplerError> {
        let &SessionRequest { interval, limit, most_stacks, most_frame_bytes, policy, .. } = request;
        let interval = quantise(interval, CpuSampler::BASE);
        let now = selfprof_v8::now();
        // A recording that is streamed has both.
        let labels = waiting;
        let SessionView { admission, origin, resolution } = view;
        let recording = RecordingOptions {
            origin,
            interval,
            limit,
            most_stacks,
            most_frame_bytes,
            policy,
            resolution,
            waiting,
            labels,
        };
        let cell = Arc::new(RecordingCell::new(recording, admission, now));
        let options = SessionOptions { interval, rotate_every: LONGEST_RUN, cell: Arc::clone(&cell) };
        let (session, cut) = self.group.join(now, options)?;
        self.deliver(cut);
        Ok((session, interval, cell))
    }

    /// Stops a session.
    pub fn close(&mut self, session: SessionId) -> Result<StoppedSession, GroupError> {
        self.end_retired_run(true);
        let left = self.group.leave(selfprof_v8::now(), session)?;
        self.deliver(left.cut);
        Ok(StoppedSession { session, cell: left.cell, notifier: Arc::clone(&self.notifier) })
    }

    /// Stops a session of a profile of all threads. Returns false when it was stopped before.
    pub fn leave_profile(&mut self, session: SessionId) -> bool {
        self.end_retired_run(true);
        let Ok(left) = self.group.leave(selfprof_v8::now(), session) else { return false };
        self.deliver(left.cut);
        self.release_later();
        self.end_entries(session);
        true
    }

    /// Stops a session and discards what it recorded. Does nothing when it was stopped before.
    pub fn abandon(&mut self, session: SessionId) {
        self.end_retired_run(true);
        let Ok(mut left) = self.group.leave(selfprof_v8::now(), session) else { return };
        if let Some(cut) = &mut left.cut {
            cut.deliveries.retain(|delivery| delivery.session != session);
        }
        self.notifier.session_ended(session);
        self.deliver(left.cut);
        self.release_later();
        self.end_entries(session);
    }

    /// A chunk was taken of a session that paused because too many chunks were waiting.
    pub fn continue_after_chunk(&self, session: SessionId) {
        if self.notifier.chunked(session).is_some() {
            delivery::continue_after_chunk(session, Arc::clone(&self.notifier));
        }
    }

    /// Takes a sample now for each started session of a realm, or of the thread itself, and for no other session.
    /// Returns how many sessions got it.
    pub fn force_sample(&mut self, realm: Option<RealmId>) -> usize {
        self.end_retired_run(true);
        let sessions = self.sessions_of(realm);
        self.group.force_sample(|session| sessions.contains(&session))
    }

    /// Pauses a realm's sessions, or resumes those that are paused.
    pub fn set_paused(&mut self, realm: RealmId, paused: bool) -> Result<(), GroupError> {
        self.end_retired_run(true);
        for session in self.sessions_of(Some(realm)) {
            let now = selfprof_v8::now();
            let cut = if paused { self.group.pause(now, session) } else { self.group.resume(now, session) };
            self.deliver(cut?);
        }
        Ok(())
    }

    fn sessions_of(&self, realm: Option<RealmId>) -> Vec<SessionId> {
        let of_realm = |cell: &RecordingCell| cell.admission.realm() == realm;
        self.group.sessions().filter(|(_, cell)| of_realm(cell)).map(|(session, _)| session).collect()
    }

    /// Cuts the segment that is due, if one is.
    pub fn tick(&mut self) {
        self.end_retired_run(false);
        let cut = self.group.tick(selfprof_v8::now());
        if cut.is_some() {
            self.run_length.cut();
            self.group.set_longest_run(self.run_length.longest());
            if let Some(copier) = &mut self.map_copier {
                copier.age();
            }
        }
        self.deliver(cut);
        self.release_oldest_profile();
        if let Some(copier) = &mut self.map_copier
            && copier.copy(COPIED_AT_A_TIME)
        {
            self.notifier.check_at(selfprof_v8::now().after(COPY_PAUSE));
        }
    }

    /// Frees what V8 still holds of one profile, so that the pause is short. The next is freed later.
    fn release_oldest_profile(&mut self) {
        let before = thread_cpu_time();
        if let Some(length) = self.group.sampler().release_oldest_profile() {
            self.run_length.freed(length, thread_cpu_time().saturating_sub(before));
            self.group.set_longest_run(self.run_length.longest());
        }
        if self.group.sampler().held_profiles() > 0 {
            self.release_later();
        }
    }

    /// Frees what V8 still holds of profiles that have been read.
    pub fn release_read_profiles(&mut self) {
        self.group.sampler().release_read_profiles();
    }

    /// The same when the building thread has read the last segment. This thread may have nothing else to do then.
    fn release_later(&self) {
        self.notifier.check_at(selfprof_v8::now().after(RELEASE_AFTER));
    }

    /// Pauses sampling because the thread seems to end. The next [`tick`](Self::tick) resumes it.
    pub fn suspend(&mut self) {
        self.end_retired_run(true);
        let cut = self.group.suspend();
        self.deliver(cut);
    }

    /// Delivers what was recorded so far. Sampling goes on.
    pub fn flush(&mut self) {
        self.end_retired_run(true);
        let cut = self.group.flush(selfprof_v8::now());
        self.deliver(cut);
    }

    /// Stops all sessions because the agent ends. With `deliver`, they get their last samples.
    pub fn stop_all(&mut self, deliver: bool) {
        if deliver {
            self.end_retired_run(true);
        }
        let cut = self.group.close(selfprof_v8::now());
        if deliver {
            self.deliver(cut);
        }
    }

    /// Has all streamed recordings written to their end. Waits until the last segments have been read.
    pub fn end_streams(&mut self, reason: &'static str) {
        if let Some(copier) = &mut self.map_copier {
            // Only then is it known which scripts are in the last samples.
            building_thread::wait();
            copier.copy(usize::MAX);
        }
        for stream in self.notifier.streams() {
            stream.end(reason);
        }
    }

    /// Whether a recording is streamed that its recorder no longer wants.
    pub fn has_unwanted_stream(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.is_over.load(Ordering::Acquire))
    }

    /// Stops the sessions of all streamed recordings and has them written to their end. The thread goes on.
    pub fn stop_streams(&mut self, reason: &'static str) {
        self.end_retired_run(true);
        for session in self.notifier.streamed_sessions() {
            if let Ok(left) = self.group.leave(selfprof_v8::now(), session) {
                self.deliver(left.cut);
            }
            self.end_entries(session);
        }
        self.end_streams(reason);
        building_thread::wait();
        self.release_read_profiles();
        self.notifier.forget_streams();
        self.map_copier = None;
        self.heap_limit = None;
        self.group.sampler().set_cpu_times(false);
        self.group.sampler().set_labels(None);
        if let Some(Recorder { on_end: Some(on_end), .. }) = self.recorder.take() {
            on_end();
        }
    }

    /// Marks and measures are no longer recorded for a session.
    fn end_entries(&self, session: SessionId) {
        if recorder::end(session, self.now()) {
            (self.on_entries_wanted)();
        }
    }

    /// Now, on the clock of the thread's `performance`.
    fn now(&self) -> Micros {
        selfprof_v8::now().since(self.view.origin)
    }

    fn deliver(&mut self, cut: Option<Cut<Profile>>) {
        let Some(cut) = cut else { return };
        self.end_retired_run(true);
        if cut.profile.is_running() {
            self.retire(cut, RETIRE_AFTER);
        } else {
            self.build(cut);
        }
    }

    fn build(&self, cut: Cut<Profile>) {
        delivery::deliver(cut, Arc::clone(&self.notifier), !self.group.is_sampling());
    }

    fn retire(&mut self, cut: Cut<Profile>, wait: Micros) {
        self.retired = Some((cut, wait));
        self.notifier.check_at(selfprof_v8::now().after(wait));
    }

    /// Delivers the cut whose run had not ended, unless V8 has not processed all of its samples. With `at_once`, V8 is
    /// made to.
    ///
    /// Cuts are delivered in their order, and a retired run still takes samples. So this comes before whatever ends,
    /// pauses or forces something.
    fn end_retired_run(&mut self, at_once: bool) {
        let Some((cut, wait)) = self.retired.take() else { return };
        if cut.profile.is_running() && !self.group.sampler().end_retired_run(at_once) {
            return self.retire(cut, wait.saturating_mul(2));
        }
        self.build(cut);
    }
}
