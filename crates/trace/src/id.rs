//! Typed indexes into the tables of one trace.

use std::num::NonZeroU32;

/// An index into one table of a trace.
///
/// Ids are dense: the first entry of a table has index 0, the next 1, and so on. An id is only valid in the trace that
/// it comes from.
pub trait TableId: Copy + Eq + Ord {
    /// The name of the table in messages, e.g. `"stack"`.
    const TABLE: &'static str;

    /// The id of the entry at a 0-based index; `None` if the index is too large.
    fn from_index(index: usize) -> Option<Self>;

    /// The 0-based index of the entry in its table.
    fn index(self) -> usize;
}

macro_rules! table_id {
    ($(#[$doc:meta])* $name:ident, $table:literal) => {
        $(#[$doc])*
        ///
        /// Only valid in one trace. Stores the index + 1, so that an `Option` of it takes 4 bytes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id of the entry at a 0-based index; `None` if the index is `u32::MAX` or more.
            #[inline]
            pub fn from_index(index: usize) -> Option<Self> {
                u32::try_from(index).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
            }

            /// The 0-based index of the entry in its table, which is the id in the W3C format.
            #[inline]
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl TableId for $name {
            const TABLE: &'static str = $table;

            fn from_index(index: usize) -> Option<Self> {
                Self::from_index(index)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        const _: () = assert!(size_of::<Option<$name>>() == 4);
    };
}

table_id! {
    /// A function name in a trace's table of names.
    NameId, "name"
}
table_id! {
    /// A script's URL in a trace's table of resources.
    ResourceId, "resource"
}
table_id! {
    /// A function in a trace's table of frames.
    FrameId, "frame"
}
table_id! {
    /// A stack (a node of the call tree) in a trace's table of stacks.
    StackId, "stack"
}

table_id! {
    /// A name in a trace's table of names of marks and measures.
    EntryNameId, "entry name"
}

table_id! {
    /// A set of labels in a trace's [`Labels`](crate::Labels).
    LabelSetId, "labels"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_from_zero_and_end_below_u32_max() {
        #[track_caller]
        fn check(index: usize, expected: Option<usize>) {
            assert_eq!(StackId::from_index(index).map(StackId::index), expected);
        }
        check(0, Some(0));
        check(41, Some(41));
        check(u32::MAX as usize - 1, Some(u32::MAX as usize - 1));
        check(u32::MAX as usize, None);
        check(usize::MAX, None);
    }
}
