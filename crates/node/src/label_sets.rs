//! What the labels of samples stand for.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use selfprof_trace::LabelSet;
use selfprof_v8::{LabelNumbers, LabelTable};

/// How many sets of labels are known at a time. A program that labels its work with the names of its users has ever new
/// ones.
const MAX_SETS: usize = 20_000;

/// The labels of samples whose set is no longer known.
const UNKNOWN: (&str, &str) = ("labels", "(too many)");

/// The sets of labels of one thread, by their numbers. The thread adds some, the building thread looks them up.
#[derive(Default)]
pub struct LabelSets {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sets: HashMap<i32, Arc<LabelSet>>,
    /// The oldest first.
    numbers: VecDeque<i32>,
}

impl LabelSets {
    /// Samples with this number have these labels. If there are too many sets, the oldest is forgotten.
    pub fn add(&self, number: i32, set: LabelSet) {
        let mut state = self.state.lock();
        if state.sets.insert(number, Arc::new(set)).is_none() {
            state.numbers.push_back(number);
        }
        if state.numbers.len() > MAX_SETS
            && let Some(oldest) = state.numbers.pop_front()
        {
            state.sets.remove(&oldest);
        }
    }
}

impl LabelTable for LabelSets {
    /// The numbers are: the set; the request; the trace id of OpenTelemetry in four parts; its span id in two.
    fn labels(&self, numbers: &LabelNumbers) -> Option<Arc<LabelSet>> {
        let &[set, request, trace_id @ .., span_high, span_low] = numbers;
        let span_id = [span_high, span_low];
        let known = self.state.lock().sets.get(&set).cloned();
        if request == 0 && trace_id == [0; 4] && span_id == [0; 2] {
            return match (set, known) {
                (0, _) => None,
                (_, Some(known)) => Some(known),
                (_, None) => Some(Arc::new(LabelSet::new([UNKNOWN]))),
            };
        }
        let own = known.iter().flat_map(|known| known.iter());
        let own = own.map(|(name, value)| (name, value.to_owned()));
        let is_unknown = set != 0 && known.is_none();
        let unknown = is_unknown.then(|| (UNKNOWN.0, UNKNOWN.1.to_owned()));
        let request = (request != 0).then(|| ("request", request.to_string()));
        let trace_id = (trace_id != [0; 4]).then(|| ("trace_id", hexadecimal(&trace_id)));
        let span_id = (span_id != [0; 2]).then(|| ("span_id", hexadecimal(&span_id)));
        Some(Arc::new(LabelSet::new(own.chain(unknown).chain(request).chain(trace_id).chain(span_id))))
    }
}

fn hexadecimal(parts: &[i32]) -> String {
    parts.iter().map(|part| format!("{:08x}", part.cast_unsigned())).collect()
}
