//! How other threads reach an agent.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use selfprof_session::{Instant, SessionId};
use selfprof_v8::Interrupter;

use crate::agent_key::AgentKey;
use crate::alarm;
use crate::journal::StreamedRecording;
use crate::output::chunk_queue::ChunkedRecording;
use crate::session_request::{OnSessionEvent, SessionEvent};

/// How other threads reach an agent. It may outlive the agent while jobs are queued; calls then have no effect.
pub struct Notifier {
    key: AgentKey,
    interrupter: Interrupter,
    /// What the alarm calls on the agent's thread.
    on_tick: fn(),
    on_event: OnSessionEvent,
    /// Sessions whose full buffers become chunks. The agent adds; when the session has ended, the building thread
    /// removes.
    chunked: Mutex<HashMap<SessionId, ChunkedRecording>>,
    /// Recordings that are streamed. The agent adds, the building thread looks up.
    streams: Mutex<HashMap<SessionId, StreamedRecording>>,
    /// Whether other threads have requests for the agent. Any thread sets it, the agent's thread clears it.
    has_requests: AtomicBool,
    /// Whether the agent has ended. Its thread sets it, the building thread reads it.
    has_ended: AtomicBool,
}

impl Notifier {
    /// For the agent of the interrupter's thread. `on_tick` is called there when something is due.
    pub fn new(interrupter: Interrupter, on_tick: fn(), on_event: OnSessionEvent) -> Self {
        Self {
            key: AgentKey::next(),
            interrupter,
            on_tick,
            on_event,
            chunked: Mutex::default(),
            streams: Mutex::default(),
            has_requests: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        }
    }

    /// The agent's key.
    pub fn key(&self) -> AgentKey {
        self.key
    }

    /// The agent has ended: nobody waits for its traces any more.
    pub fn set_ended(&self) {
        self.has_ended.store(true, Ordering::Release);
    }

    /// Whether the agent has ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Interrupts the agent's thread.
    pub fn interrupter(&self) -> &Interrupter {
        &self.interrupter
    }

    /// Has the agent's thread check its sessions at `at`.
    pub fn check_at(&self, at: Instant) {
        alarm::set(self.key, &self.interrupter, self.on_tick, at);
    }

    /// Has the agent's thread process the requests of other threads, soon.
    pub fn wake(&self) {
        self.has_requests.store(true, Ordering::Release);
        self.check_at(selfprof_v8::now());
    }

    /// Whether other threads have requests.
    pub fn has_requests(&self) -> bool {
        self.has_requests.load(Ordering::Acquire)
    }

    /// Whether other threads have requests, which the caller processes now.
    pub fn take_requests(&self) -> bool {
        self.has_requests.swap(false, Ordering::AcqRel)
    }

    /// The session's buffer is full: notifies its opener.
    pub fn buffer_full(&self, session: SessionId) {
        (self.on_event)(SessionEvent::Full, session);
        // The group stops sampling for it at its next tick.
        self.check_at(selfprof_v8::now());
    }

    /// A chunk of the session can be taken: notifies its opener.
    pub fn chunk_available(&self, session: SessionId) {
        (self.on_event)(SessionEvent::Chunk, session);
    }

    /// Turns the full buffers of a session into chunks.
    pub fn add_chunked(&self, session: SessionId, recording: ChunkedRecording) {
        self.chunked.lock().insert(session, recording);
    }

    /// The recording of a session whose full buffers become chunks; `None` for another session.
    pub fn chunked(&self, session: SessionId) -> Option<ChunkedRecording> {
        self.chunked.lock().get(&session).cloned()
    }

    /// A session has ended. Nothing more happens to it.
    pub fn session_ended(&self, session: SessionId) {
        self.chunked.lock().remove(&session);
        (self.on_event)(SessionEvent::Ended, session);
    }

    /// Streams a session's recording.
    pub fn add_stream(&self, session: SessionId, stream: StreamedRecording) {
        self.streams.lock().insert(session, stream);
    }

    /// The recording of a session that is streamed; `None` for another session.
    pub fn stream(&self, session: SessionId) -> Option<StreamedRecording> {
        self.streams.lock().get(&session).cloned()
    }

    /// All recordings that are streamed.
    pub fn streams(&self) -> Vec<StreamedRecording> {
        self.streams.lock().values().cloned().collect()
    }

    /// Their sessions.
    pub fn streamed_sessions(&self) -> Vec<SessionId> {
        self.streams.lock().keys().copied().collect()
    }

    /// All streamed recordings have ended.
    pub fn forget_streams(&self) {
        self.streams.lock().clear();
    }
}
