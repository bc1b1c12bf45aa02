//! A table of distinct strings.

use std::marker::PhantomData;
use std::ops::Index;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use crate::TableId;
use crate::table::{TableFull, id_at};

/// A table of distinct strings, addressed by ids of type `I` in the order they came.
///
/// Apart from [`crate::Table`] because a string is looked up by reference and copied only when it is new.
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
    /// Runs "[get an element ID]": finds the string, or appends it. O(length of the string).
    ///
    /// [get an element ID]: https://wicg.github.io/js-self-profiling/#dfn-get-an-element-id
    pub(crate) fn intern(&mut self, text: &str) -> Result<I, TableFull> {
        if let Some(index) = self.entries.get_index_of(text) {
            return id_at(index);
        }
        let id = id_at(self.entries.len())?;
        self.entries.insert(text.into());
        Ok(id)
    }

    /// The string with this id; `None` when the id is of another trace that holds more.
    pub fn get(&self, id: I) -> Option<&str> {
        self.entries.get_index(id.index()).map(|text| &**text)
    }

    /// Whether this table has a string with this id.
    pub fn contains(&self, id: I) -> bool {
        id.index() < self.len()
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The strings with their ids, in the order of the ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &str)> {
        self.iter_from(0)
    }

    /// Like [`Strings::iter`], without the first `start` strings: what is new since the table had that length.
    pub fn iter_from(&self, start: usize) -> impl DoubleEndedIterator<Item = (I, &str)> {
        (start..self.len())
            .filter_map(|index| Some((I::from_index(index)?, &**self.entries.get_index(index)?)))
    }
}

/// The string with this id.
///
/// # Panics
///
/// When the id is of another trace and this table has no such string. Ids that a trace holds always resolve in
/// it; use [`Strings::get`] for others.
impl<I: TableId> Index<I> for Strings<I> {
    type Output = str;

    fn index(&self, id: I) -> &str {
        &self.entries[id.index()]
    }
}
