//! What a run recorded, and how it is read away from the JS thread.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use selfprof_session::{AgentState, Function, FunctionKind, Instant, RawNode, RawSample, RawSegment};

use crate::ffi;

/// A finished run's profile. May be read on any thread; V8 frees it on the JS thread, after it was read or when the
/// sampler ends, whichever comes first.
#[derive(Clone)]
pub struct Profile {
    cell: Arc<ProfileCell>,
}

impl Profile {
    pub(crate) fn new(cell: Arc<ProfileCell>) -> Self {
        Self { cell }
    }

    /// Copies everything out of V8's structures and releases them. `None` when this was done before, or when the
    /// sampler has ended.
    #[must_use]
    pub fn read(&self) -> Option<RawSegment> {
        let mut state = self.cell.lock();
        let ProfileState::Unread(profile) = *state else { return None };
        let segment = Reader::default().read(profile.0, self.cell.max_samples);
        *state = ProfileState::Read(profile);
        Some(segment)
    }

    /// Releases V8's structures without reading them.
    pub fn discard(&self) {
        let mut state = self.cell.lock();
        if let ProfileState::Unread(profile) = *state {
            *state = ProfileState::Read(profile);
        }
    }
}

/// The one owner of a V8 profile, shared by the thread that reads it and the JS thread, which deletes it.
pub(crate) struct ProfileCell {
    state: Mutex<ProfileState>,
    max_samples: u32,
}

enum ProfileState {
    Unread(ProfilePointer),
    Read(ProfilePointer),
    Gone,
}

#[derive(Clone, Copy)]
struct ProfilePointer(NonNull<ffi::CpuProfile>);

// SAFETY: a finished profile does not change, V8's accessors for it only read, and the lock around the pointer keeps
// the JS thread from deleting it meanwhile.
unsafe impl Send for ProfilePointer {}

impl ProfileCell {
    pub(crate) fn new(profile: Option<NonNull<ffi::CpuProfile>>, max_samples: u32) -> Self {
        let state =
            profile.map_or(ProfileState::Gone, |profile| ProfileState::Unread(ProfilePointer(profile)));
        Self { state: Mutex::new(state), max_samples }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ProfileState> {
        // A reader that panicked has left the profile as it was: it only reads.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// JS thread. Deletes the profile if it has been read and nobody holds the lock; returns whether it is gone.
    pub(crate) fn delete_if_read(&self) -> bool {
        let Ok(mut state) = self.state.try_lock() else { return false };
        if matches!(*state, ProfileState::Unread(_)) {
            return false;
        }
        delete(&mut state);
        true
    }

    /// JS thread. Deletes the profile; waits for a reader to finish.
    pub(crate) fn delete(&self) {
        delete(&mut self.lock());
    }
}

fn delete(state: &mut ProfileState) {
    if let ProfileState::Unread(profile) | ProfileState::Read(profile) =
        std::mem::replace(state, ProfileState::Gone)
    {
        // SAFETY: called on the JS thread, under the lock, once, because the state is now `Gone`; the sampler that owns
        // the profile is alive.
        unsafe { ffi::selfprof_profile_delete(profile.0.as_ptr()) };
    }
}

/// V8's `CpuProfileNode::SourceType`.
mod source_type {
    pub const SCRIPT: i32 = 0;
    pub const BUILT_IN: i32 = 1;
    pub const CALLBACK: i32 = 2;
}

/// Walks a V8 profile from its samples towards the root, visiting each node and each string once.
#[derive(Default)]
struct Reader {
    segment: RawSegment,
    /// V8 keeps one copy of equal strings, so their addresses stand for them.
    strings: FxHashMap<*const c_char, u32>,
    functions: FxHashMap<(u32, u32, i32, i32, i32), u32>,
    nodes: FxHashMap<*const ffi::CpuProfileNode, Option<u32>>,
}

impl Reader {
    fn read(mut self, profile: NonNull<ffi::CpuProfile>, max_samples: u32) -> RawSegment {
        // SAFETY: the caller holds the lock that keeps the profile alive.
        let (count, ended) = unsafe {
            (
                ffi::selfprof_profile_sample_count(profile.as_ptr()),
                ffi::selfprof_profile_end_us(profile.as_ptr()),
            )
        };
        let count = count.max(0);
        let empty = ffi::Sample { timestamp_us: 0, node: std::ptr::null(), state: 0 };
        let mut samples = vec![empty; count as usize];
        // SAFETY: as above, and `samples` has room for `count`.
        unsafe { ffi::selfprof_profile_samples(profile.as_ptr(), count, samples.as_mut_ptr()) };
        self.segment.samples.reserve(samples.len());
        for sample in &samples {
            let raw = RawSample {
                at: Instant(u64::try_from(sample.timestamp_us).unwrap_or(0)),
                node: self.node(sample.node),
                state: agent_state(sample.state),
            };
            self.segment.samples.push(raw);
        }
        if samples.len() >= max_samples as usize {
            self.segment.lost = estimate_lost(&samples, ended);
        }
        self.segment
    }

    /// The node's index, `None` for V8's own nodes: `(root)`, `(program)`, `(idle)`, `(garbage collector)` and what it
    /// could not name. Those above a script's frames do not occur; those below hang on the caller.
    fn node(&mut self, node: *const ffi::CpuProfileNode) -> Option<u32> {
        let mut unvisited = Vec::new();
        let mut cursor = node;
        let mut caller = None;
        while !cursor.is_null() {
            if let Some(&known) = self.nodes.get(&cursor) {
                caller = known;
                break;
            }
            let mut read = std::mem::MaybeUninit::uninit();
            // SAFETY: the node belongs to the profile that is being read; the shim fills the whole struct.
            let read: ffi::Node = unsafe {
                ffi::selfprof_node_read(cursor, read.as_mut_ptr());
                read.assume_init()
            };
            let parent = read.parent;
            unvisited.push((cursor, read));
            cursor = parent;
        }
        for (pointer, node) in unvisited.into_iter().rev() {
            let kind = match node.source_type {
                source_type::SCRIPT => Some(FunctionKind::Script),
                source_type::BUILT_IN | source_type::CALLBACK => Some(FunctionKind::BuiltIn),
                _ => None,
            };
            if let Some(kind) = kind {
                let function = self.function(&node, kind);
                let index = self.segment.nodes.len() as u32;
                self.segment.nodes.push(RawNode { parent: caller, function });
                caller = Some(index);
            }
            self.nodes.insert(pointer, caller);
        }
        caller
    }

    fn function(&mut self, node: &ffi::Node, kind: FunctionKind) -> u32 {
        let name = self.string(node.name);
        let resource = self.string(node.resource);
        let key = (name, resource, node.script_id, node.line, node.column);
        *self.functions.entry(key).or_insert_with(|| {
            self.segment.functions.push(Function {
                name,
                resource,
                script_id: node.script_id,
                line: u32::try_from(node.line).unwrap_or(0),
                column: u32::try_from(node.column).unwrap_or(0),
                kind,
            });
            (self.segment.functions.len() - 1) as u32
        })
    }

    fn string(&mut self, pointer: *const c_char) -> u32 {
        *self.strings.entry(pointer).or_insert_with(|| {
            let text = if pointer.is_null() {
                Cow::Borrowed("")
            } else {
                // SAFETY: V8 hands out NUL-terminated strings that live as long as the profile.
                unsafe { CStr::from_ptr(pointer) }.to_string_lossy()
            };
            self.segment.strings.push(text.into());
            (self.segment.strings.len() - 1) as u32
        })
    }
}

/// V8 drops samples beyond its limit without counting them: about as many as would have fit between the last one kept
/// and the end of the run.
fn estimate_lost(samples: &[ffi::Sample], ended_us: i64) -> u64 {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return 0 };
    let interval = (last.timestamp_us - first.timestamp_us) / samples.len() as i64;
    u64::try_from((ended_us - last.timestamp_us) / interval.max(1)).unwrap_or(0)
}

/// Undoes the numbering in the shim's `PortableState`.
fn agent_state(state: i32) -> AgentState {
    match state {
        0 => AgentState::JavaScript,
        1 => AgentState::GarbageCollection,
        2 => AgentState::Parser,
        3 => AgentState::BytecodeCompiler,
        4 => AgentState::Compiler,
        6 => AgentState::External,
        7 => AgentState::AtomicsWait,
        8 => AgentState::Idle,
        _ => AgentState::Other,
    }
}
