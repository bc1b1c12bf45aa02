//! The samples of a foreign trace, of which there are more than of anything else.

use super::{ForeignSample, whole};
use crate::{Marker, UnknownMarker};

/// Samples as they were read, in half the room of a [`ForeignSample`] each.
#[derive(Clone, Debug, Default)]
pub(super) struct RawSamples {
    list: Vec<RawSample>,
    /// The ids of stacks that cannot be an index, in the order of their samples.
    odd_stack_ids: Vec<f64>,
}

/// As large as a [`Sample`](crate::Sample), so that one list can become the other in its place.
#[derive(Clone, Copy, Debug)]
struct RawSample {
    timestamp: f64,
    /// An index, or one of the two numbers below.
    stack: u32,
    marker: Option<Result<Marker, UnknownMarker>>,
}

const _: () = assert!(size_of::<RawSample>() == size_of::<crate::Sample>());
const _: () = assert!(align_of::<RawSample>() == align_of::<crate::Sample>());

/// There is no stack.
const NONE: u32 = u32::MAX;
/// The id stands in the list of odd ones.
const ODD: u32 = u32::MAX - 1;

impl RawSamples {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn push(&mut self, sample: ForeignSample) {
        let ForeignSample { timestamp, stack_id, marker } = sample;
        let stack = stack_id.map_or(NONE, |id| {
            let index = whole(id).and_then(|index| u32::try_from(index).ok()).filter(|&index| index < ODD);
            index.unwrap_or_else(|| {
                self.odd_stack_ids.push(id);
                ODD
            })
        });
        self.list.push(RawSample { timestamp, stack, marker });
    }

    /// The samples as they came.
    pub(super) fn into_iter(self) -> impl Iterator<Item = ForeignSample> {
        let mut odd_stack_ids = self.odd_stack_ids.into_iter();
        self.list.into_iter().map(move |RawSample { timestamp, stack, marker }| {
            let stack_id = match stack {
                NONE => None,
                ODD => odd_stack_ids.next(),
                index => Some(index.into()),
            };
            ForeignSample { timestamp, stack_id, marker }
        })
    }
}
