//! The samples of a foreign trace, stored compactly because there are so many.

use super::elements::{ForeignSample, whole};
use crate::marker::{Marker, UnknownMarker};

/// Samples as they were read, in half the memory of a [`ForeignSample`] each.
#[derive(Clone, Debug, Default)]
pub(super) struct RawSamples {
    list: Vec<RawSample>,
    /// Stack ids that cannot be an index, in the order of their samples.
    invalid_stack_ids: Vec<f64>,
}

/// As large as a [`Sample`](crate::Sample), so that the list can be converted in place.
#[derive(Clone, Copy, Debug)]
struct RawSample {
    timestamp: f64,
    /// An index, [`NONE`] or [`INVALID`].
    stack: u32,
    marker: Option<Result<Marker, UnknownMarker>>,
}

const _: () = assert!(size_of::<RawSample>() == size_of::<crate::Sample>());
const _: () = assert!(align_of::<RawSample>() == align_of::<crate::Sample>());

/// The sample has no stack.
const NONE: u32 = u32::MAX;
/// The id is in the list of invalid ones.
const INVALID: u32 = u32::MAX - 1;

impl RawSamples {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn push(&mut self, sample: ForeignSample) {
        let ForeignSample { timestamp, stack_id, marker } = sample;
        let stack = stack_id.map_or(NONE, |id| {
            let index =
                whole(id).and_then(|index| u32::try_from(index).ok()).filter(|&index| index < INVALID);
            index.unwrap_or_else(|| {
                self.invalid_stack_ids.push(id);
                INVALID
            })
        });
        self.list.push(RawSample { timestamp, stack, marker });
    }

    /// The samples as they were pushed.
    pub(super) fn into_iter(self) -> impl Iterator<Item = ForeignSample> {
        let mut invalid_stack_ids = self.invalid_stack_ids.into_iter();
        self.list.into_iter().map(move |RawSample { timestamp, stack, marker }| {
            let stack_id = match stack {
                NONE => None,
                INVALID => invalid_stack_ids.next(),
                index => Some(index.into()),
            };
            ForeignSample { timestamp, stack_id, marker }
        })
    }
}
