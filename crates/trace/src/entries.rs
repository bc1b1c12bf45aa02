//! The marks and measures of a trace.

use crate::table::TableFull;
use crate::trace::{InternError, known};
use crate::{Entry, EntryNameId, Strings};

/// Marks and measures, with a table of their names: programs use few names, many times.
///
/// They are kept in the order in which they were pushed. Whoever fills the list sorts it, once.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    names: Strings<EntryNameId>,
    list: Vec<Entry>,
    dropped: u64,
}

impl Entries {
    /// No entries, and no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of an entry's name.
    pub fn name(&mut self, name: &str) -> Result<EntryNameId, TableFull> {
        self.names.intern(name)
    }

    /// Appends an entry. Fails when its name is not of this table.
    pub fn push(&mut self, entry: Entry) -> Result<(), InternError> {
        known(entry.name, self.names.contains(entry.name))?;
        self.list.push(entry);
        Ok(())
    }

    /// Lets go of all but the latest `count` entries, and of the names that none of them has.
    pub fn keep_latest(&mut self, count: usize) {
        let old = std::mem::take(self);
        self.dropped = old.dropped;
        for entry in &old.list[old.list.len().saturating_sub(count)..] {
            // What fitted into the old table fits into this one.
            if let Ok(name) = self.names.intern(&old.names[entry.name]) {
                self.list.push(Entry { name, ..*entry });
            }
        }
    }

    /// Keeps the entries that `is_wanted`; the names stay.
    pub fn retain(&mut self, is_wanted: impl FnMut(&Entry) -> bool) {
        self.list.retain(is_wanted);
    }

    /// Counts entries for which there was no room.
    pub fn count_dropped(&mut self, count: u64) {
        self.dropped = self.dropped.saturating_add(count);
    }

    /// Puts the entries in the order of their start times ([performance timeline]); equal ones stay as they were.
    ///
    /// [performance timeline]: https://w3c.github.io/performance-timeline/#dfn-filter-buffer-by-name-and-type
    pub fn sort(&mut self) {
        self.list.sort_by_key(|entry| entry.start_time);
    }

    /// Appends other entries, which count time from the same origin. Fails when the table of names is full, and then
    /// has taken over none.
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

    /// How many entries there were no room for.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether there are no entries, and there was room for all that came.
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
    fn entries_sort_by_time_and_then_by_when_they_came() {
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
    fn merging_shares_names_and_adds_what_was_dropped() {
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
    fn names_of_other_traces_are_refused() {
        let (mut few, many) = (entries("a@1"), entries("a@1 b@2"));
        let error = few.push(many.list()[1]).unwrap_err();
        assert_eq!(error.to_string(), "the trace has no entry name with id 1");
        assert_eq!(few.list().len(), 1);
    }
}
