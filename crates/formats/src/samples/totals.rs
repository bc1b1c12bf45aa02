//! The totals of samples with the same stack, marker and labels, for formats that aggregate samples.

use foldhash::HashMap;
use selfprof_trace::{LabelSetId, Marker, Micros, Sample, StackId, Trace};

use crate::error::WriteError;

/// The maximum number of functions that a format may spell out: more than any real recording has. Each takes up to ten
/// bytes while they are written.
const MAX_FUNCTIONS: u64 = 1 << 27;

/// The total of the samples with the same stack, marker and labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) stack: Option<StackId>,
    pub(crate) marker: Option<Marker>,
    /// `None` also if labels are not told apart.
    pub(crate) labels: Option<LabelSetId>,
    /// The sum of their weights.
    pub(crate) time: Micros,
    /// How much of it the thread waited, as far as is known.
    pub(crate) waiting: Micros,
    /// The number of samples.
    pub(crate) samples: u64,
}

impl Total {
    /// Whether these are idle samples.
    pub(crate) fn is_idle(&self) -> bool {
        self.stack.is_none() && self.marker.is_none()
    }
}

/// The totals in the order of their first samples, whatever labels the samples have.
pub(crate) fn totals(trace: &Trace) -> Vec<Total> {
    collect(trace, Vec::new(), |_, _, _| ())
}

/// The totals in the order of their first samples.
pub(crate) fn labelled_totals(trace: &Trace) -> Vec<Total> {
    labelled_totals_with(trace, |_, _, _| ())
}

/// Like [`labelled_totals`], but also calls `each` with every sample: the index of its total, the sample and its
/// weight.
pub(crate) fn labelled_totals_with(trace: &Trace, each: impl FnMut(usize, &Sample, Micros)) -> Vec<Total> {
    collect(trace, trace.labels().map_or_else(Vec::new, |labels| labels.of_samples(trace.samples())), each)
}

fn collect(
    trace: &Trace,
    labels: Vec<Option<LabelSetId>>,
    mut each: impl FnMut(usize, &Sample, Micros),
) -> Vec<Total> {
    let mut totals: Vec<Total> = Vec::new();
    let mut indexes = HashMap::default();
    let weights = trace.weights();
    let waiting = trace.waiting_of_samples(&weights);
    for (number, (sample, &weight)) in trace.samples().iter().zip(&weights).enumerate() {
        let labels = labels.get(number).copied().flatten();
        let index = *indexes.entry((sample.stack, sample.marker, labels)).or_insert_with(|| {
            let (stack, marker) = (sample.stack, sample.marker);
            let (time, waiting) = (Micros::ZERO, Micros::ZERO);
            totals.push(Total { stack, marker, labels, time, waiting, samples: 0 });
            totals.len() - 1
        });
        let total = &mut totals[index];
        total.time = total.time.saturating_add(weight);
        if let Some(waiting) = &waiting {
            total.waiting = total.waiting.saturating_add(waiting[number]);
        }
        total.samples += 1;
        each(index, sample, weight);
    }
    totals
}

/// Fails if these stacks together have too many functions to be spelled out.
pub(crate) fn check_depth(
    trace: &Trace,
    stacks: impl Iterator<Item = Option<StackId>>,
) -> Result<(), WriteError> {
    // Parents have smaller ids than their children, so their depths are known.
    let mut depths: Vec<u64> = Vec::with_capacity(trace.stacks().len());
    for (_, stack) in trace.stacks().iter() {
        depths.push(stack.parent.map_or(0, |parent| depths[parent.index()]) + 1);
    }
    let functions = stacks.flatten().fold(0_u64, |sum, stack| sum.saturating_add(depths[stack.index()]));
    if functions > MAX_FUNCTIONS { Err(WriteError::TooDeep) } else { Ok(()) }
}
