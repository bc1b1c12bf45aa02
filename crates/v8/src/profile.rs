//! What a run recorded, and how it is read away from the JS thread.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use selfprof_session::{
    AgentState, CpuTime, Function, FunctionKind, Instant, RawLabels, RawNode, RawSample, RawSegment,
};

use crate::ffi;
use crate::sample_labels::{LabelReading, LabelTable};

/// The profile of a run. When the run has ended, it may be read on any thread. V8 frees it on the JS thread, after it
/// was read or when the sampler ends, whichever comes first.
#[derive(Clone)]
pub struct Profile {
    cell: Arc<ProfileCell>,
}

impl Profile {
    pub(crate) fn new(cell: Arc<ProfileCell>) -> Self {
        Self { cell }
    }

    /// Whether the run has not ended yet.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(*self.cell.state.lock(), ProfileState::Running)
    }

    /// Copies everything out of V8's structures, which may then be freed. `None` when this was done before, when the
    /// run has not ended, or when the sampler has.
    #[must_use]
    pub fn read(&self) -> Option<RawSegment> {
        let mut state = self.cell.state.lock();
        let ProfileState::Unread(profile) = *state else { return None };
        let mut addon_name = self.cell.addon_name.lock();
        let mut segment =
            Reader::new(addon_name.take()).read(profile.0, self.cell.max_samples, &mut addon_name);
        let Readings { cpu_times, labels, table } = std::mem::take(&mut *self.cell.readings.lock());
        segment.cpu_times = cpu_times;
        if let Some(table) = table {
            let labels = labels.iter();
            segment.labels = labels
                .map(|reading| RawLabels {
                    from: reading.from,
                    before: reading.before,
                    labels: table.labels(&reading.numbers),
                })
                .collect();
        }
        *state = ProfileState::Read(profile);
        Some(segment)
    }

    /// Allows V8's structures to be freed without reading them.
    pub fn discard(&self) {
        let mut state = self.cell.state.lock();
        if let ProfileState::Unread(profile) = *state {
            *state = ProfileState::Read(profile);
        }
    }
}

/// The one owner of a V8 profile, shared by the thread that reads it and the JS thread, which deletes it.
pub(crate) struct ProfileCell {
    state: Mutex<ProfileState>,
    max_samples: u32,
    addon_name: AddonName,
    /// Taken by the thread that reads the profile.
    readings: Mutex<Readings>,
}

/// What was read whenever V8 sampled the thread.
#[derive(Default)]
pub(crate) struct Readings {
    pub(crate) cpu_times: Option<Vec<CpuTime>>,
    pub(crate) labels: Vec<LabelReading>,
    /// What the labels stand for; `None` without labels.
    pub(crate) table: Option<Arc<dyn LabelTable>>,
}

/// The name that V8 has for all functions of native addons, as far as it is known: they have the same entry point.
/// Shared by the profiles of a sampler; threads that read them lock it.
pub(crate) type AddonName = Arc<Mutex<Option<String>>>;

/// What profiles call the functions of native addons, since V8's name is that of any of them.
pub const NATIVE_ADDON: &str = "(native addon)";

enum ProfileState {
    Running,
    Unread(ProfilePointer),
    Read(ProfilePointer),
    Gone,
}

#[derive(Clone, Copy)]
struct ProfilePointer(NonNull<ffi::CpuProfile>);

// SAFETY: the lock around the pointer keeps the JS thread from deleting the profile while another thread reads it.
// Reading it elsewhere is not documented by V8, but sound in its versions 11.3 (Node 20), 12.4 (22), 13.6 (24) and 14.6
// (26), which agree in what matters:
// * `CpuProfilesCollection::StopProfiling` removes the profile from the list that the sampling thread appends to, so
//   its nodes and samples no longer change while other runs go on;
// * the accessors that the shim calls (node, parent, timestamp, state, names as C strings, script id, line, column,
//   source type) read plain members, allocate nothing on V8's heap and need no isolate. `GetFunctionName` and others
//   that return handles do, and are not called;
// * the code entries that nodes share with running profiles keep these members from their creation on, and their
//   reference count, which the JS thread changes when it deletes a profile, is atomic and not touched by readers.
unsafe impl Send for ProfilePointer {}

impl ProfileCell {
    pub(crate) fn new(max_samples: u32, addon_name: AddonName) -> Self {
        let state = Mutex::new(ProfileState::Running);
        Self { state, max_samples, addon_name, readings: Mutex::default() }
    }

    /// JS thread. The run has ended.
    pub(crate) fn set_profile(&self, profile: Option<NonNull<ffi::CpuProfile>>, readings: Readings) {
        *self.readings.lock() = readings;
        *self.state.lock() =
            profile.map_or(ProfileState::Gone, |profile| ProfileState::Unread(ProfilePointer(profile)));
    }

    /// JS thread. Deletes the profile if it has been read and no reader holds the lock; returns whether it is gone.
    pub(crate) fn delete_if_read(&self) -> bool {
        let Some(mut state) = self.state.try_lock() else { return false };
        if matches!(*state, ProfileState::Running | ProfileState::Unread(_)) {
            return false;
        }
        delete(&mut state);
        true
    }

    /// JS thread. Deletes the profile; waits for a reader to finish.
    pub(crate) fn delete(&self) {
        delete(&mut self.state.lock());
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

/// Reads a V8 profile from its samples towards the root, visiting each node and each string once.
#[derive(Default)]
struct Reader {
    segment: RawSegment,
    addon_name: Option<String>,
    /// The index of [`NATIVE_ADDON`].
    native_addon: Option<u32>,
    /// V8 keeps one copy of equal strings, so an address identifies a string.
    strings: FxHashMap<*const c_char, u32>,
    functions: FxHashMap<(u32, u32, i32, i32, i32), u32>,
    nodes: FxHashMap<*const ffi::CpuProfileNode, Option<u32>>,
}

impl Reader {
    fn new(addon_name: Option<String>) -> Self {
        Self { addon_name, ..Self::default() }
    }

    /// Reads the profile. `addon_name` gets what is known after that.
    fn read(
        mut self,
        profile: NonNull<ffi::CpuProfile>,
        max_samples: u32,
        addon_name: &mut Option<String>,
    ) -> RawSegment {
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
        self.learn_addon_name(samples.first());
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
        *addon_name = self.addon_name;
        self.segment
    }

    /// V8 takes the first sample when the run is started. If a function of Node-API is on top then, it is the addon's
    /// own.
    fn learn_addon_name(&mut self, first: Option<&ffi::Sample>) {
        let Some(node) = first.map(|sample| sample.node).filter(|node| !node.is_null()) else { return };
        let node = read_node(node);
        if node.source_type == source_type::CALLBACK && !node.name.is_null() {
            // SAFETY: V8 hands out NUL-terminated strings that live as long as the profile.
            let name = unsafe { CStr::from_ptr(node.name) };
            self.addon_name = Some(name.to_string_lossy().into_owned());
        }
    }

    /// The node's index. `None` for V8's own nodes: `(root)`, `(program)`, `(idle)`, `(garbage collector)` and
    /// unresolved ones. They do not occur above a script's frames; below, they count as their caller.
    fn node(&mut self, node: *const ffi::CpuProfileNode) -> Option<u32> {
        let mut unvisited = Vec::new();
        let mut cursor = node;
        let mut caller = None;
        while !cursor.is_null() {
            if let Some(&known) = self.nodes.get(&cursor) {
                caller = known;
                break;
            }
            let read = read_node(cursor);
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
        let name = self.name(node);
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

    fn name(&mut self, node: &ffi::Node) -> u32 {
        let name = self.string(node.name);
        let is_addon = node.source_type == source_type::CALLBACK
            && self.addon_name.as_deref() == Some(&*self.segment.strings[name as usize]);
        if !is_addon {
            return name;
        }
        *self.native_addon.get_or_insert_with(|| {
            self.segment.strings.push(NATIVE_ADDON.into());
            (self.segment.strings.len() - 1) as u32
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

/// Reads a node of the profile that is being read.
fn read_node(node: *const ffi::CpuProfileNode) -> ffi::Node {
    let mut read = std::mem::MaybeUninit::uninit();
    // SAFETY: the caller holds the lock that keeps the profile and its nodes alive; the shim fills the whole struct.
    unsafe {
        ffi::selfprof_node_read(node, read.as_mut_ptr());
        read.assume_init()
    }
}

/// V8 drops samples beyond its limit without counting them: about as many as would have fit between the last one kept
/// and the end of the run.
fn estimate_lost(samples: &[ffi::Sample], ended_us: i64) -> u64 {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return 0 };
    let interval = (last.timestamp_us - first.timestamp_us) / samples.len() as i64;
    u64::try_from((ended_us - last.timestamp_us) / interval.max(1)).unwrap_or(0)
}

fn agent_state(state: i32) -> AgentState {
    use ffi::numbers::AgentState as State;
    match state {
        State::JavaScript => AgentState::JavaScript,
        State::GarbageCollection => AgentState::GarbageCollection,
        State::Parser => AgentState::Parser,
        State::BytecodeCompiler => AgentState::BytecodeCompiler,
        State::Compiler => AgentState::Compiler,
        State::External => AgentState::External,
        State::AtomicsWait => AgentState::AtomicsWait,
        State::Idle => AgentState::Idle,
        _ => AgentState::Other,
    }
}
