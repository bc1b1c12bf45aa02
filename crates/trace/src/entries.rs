//! The marks and measures of a trace.

use crate::entry::Entry;
use crate::id::EntryNameId;
use crate::intern_error::{InternError, known};
use crate::micros::Micros;
use crate::millis::Millis;
use crate::strings::Strings;
use crate::table::TableFull;

/// Marks and measures, with a table of their names, because programs use few names many times.
///
/// Entries keep the order in which they are pushed; the caller sorts the list once at the end.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    names: Strings<EntryNameId>,
    list: Vec<Entry>,
    dropped: u64,
}

impl Entries {
    /// An empty list, which allocates no memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of an entry's name.
    pub fn name(&mut self, name: &str) -> Result<EntryNameId, TableFull> {
        self.names.intern(name)
    }

    /// Appends an entry. Fails if its name is not in this table.
    pub fn push(&mut self, entry: Entry) -> Result<(), InternError> {
        known(entry.name, self.names.contains(entry.name))?;
        self.list.push(entry);
        Ok(())
    }

    /// Removes all but the last `count` entries, and the names that are no longer used.
    pub fn keep_latest(&mut self, count: usize) {
        let old = std::mem::take(self);
        self.dropped = old.dropped;
        for entry in &old.list[old.list.len().saturating_sub(count)..] {
            // Cannot fail, because the new table is not larger than the old one.
            if let Ok(name) = self.names.intern(&old.names[entry.name]) {
                self.list.push(Entry { name, ..*entry });
            }
        }
    }

    /// Keeps only the entries for which `is_wanted` returns true. The names stay.
    pub fn retain(&mut self, is_wanted: impl FnMut(&Entry) -> bool) {
        self.list.retain(is_wanted);
    }

    /// Adds to the number of dropped entries.
    pub fn count_dropped(&mut self, count: u64) {
        self.dropped = self.dropped.saturating_add(count);
    }

    /// Sorts the entries by start time ([performance timeline]). The sort is stable.
    ///
    /// [performance timeline]: https://w3c.github.io/performance-timeline/#dfn-filter-buffer-by-name-and-type
    pub fn sort(&mut self) {
        self.list.sort_by_key(|entry| entry.start_time);
    }

    /// Moves all entries to a later time.
    pub fn shift(&mut self, offset: Micros) {
        let Some(offset) = Millis::new(offset.as_millis_f64()) else { return };
        for entry in &mut self.list {
            entry.start_time = entry.start_time.saturating_add(offset);
        }
    }

    /// Appends other entries with the same time origin. Fails if the table of names is full, and then appends none.
    pub fn merge(&mut self, other: &Self) -> Result<(), TableFull> {
        let names: Vec<EntryNameId> =
            other.names.iter().map(|(_, name)| self.names.intern(name)).collect::<Result<_, _>>()?;
        self.list.extend(other.list.iter().map(|entry| Entry { name: names[entry.name.index()], ..*entry }));
        self.count_dropped(other.dropped);
        Ok(())
    }

    /// The table of names.
    pub fn names(&self) -> &Strings<EntryNameId> {
        &self.names
    }

    /// The entries.
    pub fn list(&self) -> &[Entry] {
        &self.list
    }

    /// The number of dropped entries.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether there are no entries, and none were dropped.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.dropped == 0
    }
}

// A program may make as many marks as there are samples.
const _: () = assert!(size_of::<Entry>() <= 24);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EntryType, Millis};

    /// Marks from `name@time`.
    fn entries(marks: &str) -> Entries {
        let mut entries = Entries::new();
        for mark in marks.split_whitespace() {
            let (name, time) = mark.split_once('@').unwrap();
            let (name, start_time) =
                (entries.name(name).unwrap(), Millis::new(time.parse().unwrap()).unwrap());
            let entry = Entry { entry_type: EntryType::Mark, name, start_time, duration: Millis::ZERO };
            entries.push(entry).unwrap();
        }
        entries
    }

    fn spelled(entries: &Entries) -> String {
        let spell = |entry: &Entry| format!("{}@{}", &entries.names()[entry.name], entry.start_time);
        entries.list().iter().map(spell).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sorting_by_time_is_stable() {
        #[track_caller]
        fn check(marks: &str, expected: &str) {
            let mut entries = entries(marks);
            entries.sort();
            assert_eq!(spelled(&entries), expected);
        }
        check("", "");
        check("a@2 b@1 c@2 d@-1 e@1", "d@-1 b@1 e@1 a@2 c@2");
    }

    #[test]
    fn merging_shares_names_and_adds_dropped_counts() {
        let (mut first, mut second) = (entries("a@1 b@2"), entries("b@1 c@3"));
        first.count_dropped(2);
        second.count_dropped(u64::MAX);
        first.merge(&second).unwrap();
        assert_eq!(spelled(&first), "a@1 b@2 b@1 c@3");
        assert_eq!((first.names().len(), first.dropped()), (3, u64::MAX));
    }

    #[test]
    fn the_latest_are_kept_with_their_names() {
        #[track_caller]
        fn check(count: usize, expected: &str, names: usize) {
            let mut entries = entries("a@3 b@2 a@1 c@0");
            entries.count_dropped(7);
            entries.keep_latest(count);
            assert_eq!((&*spelled(&entries), entries.names().len(), entries.dropped()), (expected, names, 7));
        }
        check(9, "a@3 b@2 a@1 c@0", 3);
        check(3, "b@2 a@1 c@0", 3);
        check(2, "a@1 c@0", 2);
        check(0, "", 0);
    }

    #[test]
    fn names_of_other_traces_are_errors() {
        let (mut few, many) = (entries("a@1"), entries("a@1 b@2"));
        let error = few.push(many.list()[1]).unwrap_err();
        assert_eq!(error.to_string(), "the trace has no entry name with id 1");
        assert_eq!(few.list().len(), 1);
    }
}
