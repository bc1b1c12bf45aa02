//! A table of distinct entries.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Index;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use crate::id::TableId;

/// A table of distinct entries of type `T`. Their ids of type `I` count in the order of insertion.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    entries: IndexSet<T, RandomState>,
    ids: PhantomData<fn() -> I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { entries: IndexSet::default(), ids: PhantomData }
    }
}

impl<I: TableId, T: Copy + Eq + Hash> Table<I, T> {
    /// "[Get an element ID]": finds the entry that is component-wise equal, or appends it. O(1).
    ///
    /// [Get an element ID]: https://wicg.github.io/js-self-profiling/#dfn-get-an-element-id
    pub(crate) fn intern(&mut self, entry: T) -> Result<I, TableFull> {
        if let Some(index) = self.entries.get_index_of(&entry) {
            return id_at(index);
        }
        // The id is computed first, so that a full table is not changed.
        let id = id_at(self.entries.len())?;
        self.entries.insert(entry);
        Ok(id)
    }

    /// The entry with this id; `None` if the id is from another trace and too large.
    pub fn get(&self, id: I) -> Option<T> {
        self.entries.get_index(id.index()).copied()
    }

    /// Whether this table has an entry with this id.
    pub fn contains(&self, id: I) -> bool {
        id.index() < self.len()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries with their ids, in the order of the ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, T)> {
        self.iter_from(0)
    }

    /// Like [`Table::iter`], without the first `start` entries: those added since the table had that length.
    pub fn iter_from(&self, start: usize) -> impl DoubleEndedIterator<Item = (I, T)> {
        (start..self.len()).filter_map(|index| Some((I::from_index(index)?, *self.entries.get_index(index)?)))
    }
}

/// The entry with this id.
///
/// # Panics
///
/// If the id is from another trace and this table has no such entry. Ids in a trace always resolve in it; use
/// [`Table::get`] for others.
impl<I: TableId, T: Copy + Eq + Hash> Index<I> for Table<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

/// The id of the entry at `index`, or an error with the name of the full table.
pub(crate) fn id_at<I: TableId>(index: usize) -> Result<I, TableFull> {
    I::from_index(index).ok_or(TableFull { table: I::TABLE })
}

/// A table is full: it has 2³² - 1 entries, the number of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFull {
    table: &'static str,
}

impl TableFull {
    /// The name of the table: `"name"`, `"resource"`, `"frame"`, `"stack"` or `"entry name"`.
    pub fn table(&self) -> &'static str {
        self.table
    }
}

impl fmt::Display for TableFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the trace has run out of {} ids", self.table)
    }
}

impl std::error::Error for TableFull {}

#[cfg(test)]
mod tests {
    use super::*;

    /// An id for tables of at most two entries.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Bit(bool);

    impl TableId for Bit {
        const TABLE: &'static str = "bit";

        fn from_index(index: usize) -> Option<Self> {
            (index < 2).then_some(Self(index == 1))
        }

        fn index(self) -> usize {
            usize::from(self.0)
        }
    }

    #[test]
    fn a_full_table_still_finds_its_entries() {
        let mut table = Table::<Bit, char>::default();
        assert_eq!(table.intern('a'), Ok(Bit(false)));
        assert_eq!(table.intern('b'), Ok(Bit(true)));
        assert_eq!(table.intern('c'), Err(TableFull { table: "bit" }));
        assert_eq!(table.intern('a'), Ok(Bit(false)));
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn iteration_can_start_at_any_index() {
        #[track_caller]
        fn check(start: usize, expected: &[(Bit, char)]) {
            let mut table = Table::<Bit, char>::default();
            table.intern('a').unwrap();
            table.intern('b').unwrap();
            assert_eq!(table.iter_from(start).collect::<Vec<_>>(), expected);
        }
        check(0, &[(Bit(false), 'a'), (Bit(true), 'b')]);
        check(1, &[(Bit(true), 'b')]);
        check(2, &[]);
        check(9, &[]);
    }
}
