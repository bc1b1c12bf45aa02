//! The source maps of recorded scripts, for scripts that are compiled in memory.
//!
//! The building thread sees which scripts occur in samples and asks for their source mapping URLs. The recorded thread
//! copies them out of V8, a part at a time, and the building thread writes them.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use selfprof_session::{Admission, FrameAdmission, RawSegment};

/// The longest URL that is recorded, in characters.
const MAX_LENGTH: usize = 1 << 24;

/// The longest sum of all URLs of a recording.
const MAX_TOTAL_LENGTH: usize = 1 << 26;

/// The largest number of scripts whose URLs a recording asks for.
const MAX_SCRIPTS: usize = 1 << 16;

/// A script that occurs in samples.
pub struct SampledScript {
    /// V8's id.
    pub id: i32,
    /// Its URL or path.
    pub resource: Arc<str>,
}

/// What a recording has, and what it still wants.
#[derive(Default)]
pub struct RecordedMaps {
    /// The building thread adds, the recorded thread takes.
    wanted: Mutex<Vec<SampledScript>>,
    /// The sum of the URLs that were written.
    length: AtomicUsize,
    state: Mutex<State>,
}

/// Used by the building thread alone.
#[derive(Default)]
struct State {
    /// The scripts that were asked for.
    known: HashSet<i32>,
    /// The hashes of what was written for each resource.
    written: HashMap<Arc<str>, Vec<u64>>,
}

impl RecordedMaps {
    /// Building thread. Asks for the URLs of the scripts in a segment that the recording shows. Returns whether there
    /// are new ones, and how many are too many.
    pub fn want(&self, segment: &RawSegment, admission: &dyn FrameAdmission) -> (bool, u64) {
        let mut state = self.state.lock();
        let mut wanted = Vec::new();
        let mut left_out = 0;
        for function in &segment.functions {
            let resource = &*segment.strings[function.resource as usize];
            if resource.is_empty() || function.script_id == 0 || state.known.contains(&function.script_id) {
                continue;
            }
            if admission.admit(function, resource) != Admission::Show {
                continue;
            }
            if state.known.len() >= MAX_SCRIPTS {
                left_out += 1;
                continue;
            }
            state.known.insert(function.script_id);
            wanted.push(SampledScript { id: function.script_id, resource: resource.into() });
        }
        let has_new = !wanted.is_empty();
        self.wanted.lock().extend(wanted);
        (has_new, left_out)
    }

    /// Building thread. Whether this URL must be written: it is not the one that was written for another script with
    /// this name.
    pub fn is_new(&self, resource: &Arc<str>, url: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        url.hash(&mut hasher);
        let hash = hasher.finish();
        let mut state = self.state.lock();
        let written = state.written.entry(Arc::clone(resource)).or_default();
        let is_new = !written.contains(&hash);
        if is_new {
            written.push(hash);
            self.length.fetch_add(url.len(), Ordering::Relaxed);
        }
        is_new
    }

    /// Recorded thread. Takes the scripts that are wanted.
    pub fn take_wanted(&self) -> Vec<SampledScript> {
        mem::take(&mut *self.wanted.lock())
    }

    /// Whether a URL of this length may be recorded.
    pub fn has_room(&self, length: usize) -> bool {
        length <= MAX_LENGTH && self.length.load(Ordering::Relaxed).saturating_add(length) <= MAX_TOTAL_LENGTH
    }
}
