//! A table of distinct strings.

use std::marker::PhantomData;
use std::ops::Index;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use crate::id::TableId;
use crate::table::{TableFull, id_at};

/// A table of distinct strings. Their ids of type `I` count in the order of insertion.
///
/// Unlike a [`crate::Table`], it looks up strings by reference and copies only new ones.
#[derive(Clone, Debug)]
pub struct Strings<I> {
    entries: IndexSet<Box<str>, RandomState>,
    ids: PhantomData<fn() -> I>,
}

impl<I> Default for Strings<I> {
    fn default() -> Self {
        Self { entries: IndexSet::default(), ids: PhantomData }
    }
}

impl<I: TableId> Strings<I> {
    /// "[Get an element ID]": finds the string, or appends it. O(length of the string).
    ///
    /// [Get an element ID]: https://wicg.github.io/js-self-profiling/#dfn-get-an-element-id
    pub(crate) fn intern(&mut self, text: &str) -> Result<I, TableFull> {
        if let Some(index) = self.entries.get_index_of(text) {
            return id_at(index);
        }
        let id = id_at(self.entries.len())?;
        self.entries.insert(text.into());
        Ok(id)
    }

    /// The string with this id; `None` if the id is from another trace and too large.
    pub fn get(&self, id: I) -> Option<&str> {
        self.entries.get_index(id.index()).map(|text| &**text)
    }

    /// Whether this table has a string with this id.
    pub fn contains(&self, id: I) -> bool {
        id.index() < self.len()
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The strings with their ids, in the order of the ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &str)> {
        self.iter_from(0)
    }

    /// Like [`Strings::iter`], without the first `start` strings: those added since the table had that length.
    pub fn iter_from(&self, start: usize) -> impl DoubleEndedIterator<Item = (I, &str)> {
        (start..self.len())
            .filter_map(|index| Some((I::from_index(index)?, &**self.entries.get_index(index)?)))
    }
}

/// The string with this id.
///
/// # Panics
///
/// If the id is from another trace and this table has no such string. Ids in a trace always resolve in it; use
/// [`Strings::get`] for others.
impl<I: TableId> Index<I> for Strings<I> {
    type Output = str;

    fn index(&self, id: I) -> &str {
        &self.entries[id.index()]
    }
}
