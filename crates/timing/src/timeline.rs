//! The [performance entry buffer map](https://w3c.github.io/performance-timeline/#dfn-performance-entry-buffer-map) of
//! marks and measures.

use crate::buffer::{Buffer, Mark, Measure};
use crate::names::Names;
use crate::{
    Bounds, Entry, EntryType, EntryTypes, HighResTime, MeasureError, NameId, PerformanceTiming, Range,
    Sequence,
};

/// The maximum sizes of the buffers. The [registry](https://w3c.github.io/timing-entrytypes-registry/) says *infinite*,
/// which is the default; the actual maximum is then 2^32 - 1 entries, which is 64 GiB of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of marks.
    pub marks: u32,
    /// The maximum number of measures.
    pub measures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { marks: u32::MAX, measures: u32::MAX }
    }
}

/// What happened to an entry. Its observers get it in both cases: [queue a
/// PerformanceEntry](https://w3c.github.io/performance-timeline/#queue-a-performanceentry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is in its buffer.
    Kept,
    /// Its buffer is full; it was counted as dropped.
    Dropped,
}

/// Selects entries; all by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only entries of this type.
    pub entry_type: Option<EntryType>,
    /// Only entries with this name.
    pub name: Option<NameId>,
}

impl Filter {
    fn admits(self, entry_type: EntryType) -> bool {
        self.entry_type.is_none_or(|wanted| wanted == entry_type)
    }
}

/// The marks and measures of one global object. See the [crate] for an example.
pub struct Timeline {
    marks: Buffer<Mark>,
    measures: Buffer<Measure>,
    names: Names,
    next: Sequence,
    timing: Option<PerformanceTiming>,
}

impl Timeline {
    /// An empty timeline, without a window.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            marks: Buffer::new(limits.marks),
            measures: Buffer::new(limits.measures),
            names: Names::new(),
            next: Sequence(0),
            timing: None,
        }
    }

    /// Sets the times of the page's load, which change while it loads. `None` when there is no window.
    pub fn set_timing(&mut self, timing: Option<PerformanceTiming>) {
        self.timing = timing;
    }

    /// Appends a mark. O(1), with at most one allocation.
    #[inline]
    pub fn mark(&mut self, name: NameId, start: HighResTime) -> Appended {
        let entry = self.entry(EntryType::Mark, name, start, HighResTime::ZERO);
        if !self.marks.push(&entry) {
            return Appended::Dropped;
        }
        self.names.add_mark(name, start);
        Appended::Kept
    }

    /// Appends a measure that was [resolved](Self::resolve). O(1), with at most one allocation.
    #[inline]
    pub fn append_measure(&mut self, name: NameId, range: Range) -> Appended {
        let entry = self.entry(EntryType::Measure, name, range.start, range.duration);
        if !self.measures.push(&entry) {
            return Appended::Dropped;
        }
        self.names.add_measure(name);
        Appended::Kept
    }

    #[inline]
    fn entry(
        &mut self,
        entry_type: EntryType,
        name: NameId,
        start: HighResTime,
        duration: HighResTime,
    ) -> Entry {
        let sequence = self.next;
        self.next.0 += 1;
        Entry { entry_type, name, sequence, start, duration }
    }

    /// Computes a measure's start and duration without making it. `now` is called only if it is needed.
    ///
    /// # Errors
    /// As [`measure()`](https://w3c.github.io/user-timing/#dom-performance-measure) throws.
    #[inline]
    pub fn resolve(&self, bounds: &Bounds, now: impl FnOnce() -> HighResTime) -> Result<Range, MeasureError> {
        bounds.resolve(self.timing.as_ref(), |name| self.latest_mark(name), now)
    }

    /// Appends a measure and returns its start and duration.
    ///
    /// # Errors
    /// As [`Timeline::resolve`]; nothing is appended then.
    #[inline]
    pub fn measure(
        &mut self,
        name: NameId,
        bounds: &Bounds,
        now: impl FnOnce() -> HighResTime,
    ) -> Result<Range, MeasureError> {
        let range = self.resolve(bounds, now)?;
        self.append_measure(name, range);
        Ok(range)
    }

    /// The start of the mark with this name that was made last, whatever its time. O(1).
    #[inline]
    #[must_use]
    pub fn latest_mark(&self, name: NameId) -> Option<HighResTime> {
        self.names.latest_mark(name)
    }

    /// The entries in the order of their starts; those with the same start, in the order in which they were made.
    /// [Filter buffer map by name and
    /// type](https://w3c.github.io/performance-timeline/#dfn-filter-buffer-map-by-name-and-type).
    #[must_use]
    pub fn entries(&self, filter: Filter) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(self.count(filter));
        self.for_each(filter, |entry| entries.push(entry));
        entries
    }

    /// Visits what [`Timeline::entries`] lists, without making a list if the entries are in order already.
    pub fn for_each(&self, filter: Filter, mut visit: impl FnMut(Entry)) {
        let mut types = EntryType::ALL.into_iter().filter(|&entry_type| {
            filter.admits(entry_type) && self.count(Filter { entry_type: Some(entry_type), ..filter }) > 0
        });
        match (types.next(), types.next()) {
            (None, _) => {}
            (Some(entry_type), None) if self.is_in_order(entry_type) => {
                self.for_each_in_call_order(entry_type, filter.name, visit);
            }
            (first, second) => {
                let mut entries = Vec::with_capacity(self.count(filter));
                for entry_type in first.into_iter().chain(second) {
                    self.for_each_in_call_order(entry_type, filter.name, |entry| entries.push(entry));
                }
                // Fast, since the entries consist of a few runs that are in order: marks, and measures that are not
                // nested.
                entries.sort_by(|a, b| a.start.chronological(b.start).then(a.sequence.cmp(&b.sequence)));
                entries.into_iter().for_each(&mut visit);
            }
        }
    }

    fn is_in_order(&self, entry_type: EntryType) -> bool {
        match entry_type {
            EntryType::Mark => self.marks.is_in_order(),
            EntryType::Measure => self.measures.is_in_order(),
        }
    }

    /// Visits the entries of one type in the order in which they were made, as `getMarks()` and `getMeasures()` of the
    /// draft of [2012](https://www.w3.org/TR/2012/WD-user-timing-20120508/) do.
    pub fn for_each_in_call_order(
        &self,
        entry_type: EntryType,
        name: Option<NameId>,
        visit: impl FnMut(Entry),
    ) {
        let name = name.map(|name| (name, self.names.count(name, entry_type)));
        match entry_type {
            EntryType::Mark => self.marks.for_each(name, visit),
            EntryType::Measure => self.measures.for_each(name, visit),
        }
    }

    /// Removes entries: `clearMarks()`, `clearMeasures()`. Returns the names that no entry has any more; their ids may
    /// be reused. The count of dropped entries and the sequence numbers are not reset.
    pub fn clear(&mut self, filter: Filter) -> Vec<NameId> {
        let mut unused = Vec::new();
        for entry_type in EntryType::ALL.into_iter().filter(|&entry_type| filter.admits(entry_type)) {
            self.clear_type(entry_type, filter.name, &mut unused);
        }
        if self.count(Filter::default()) == 0 {
            self.names.forget_names();
        }
        unused
    }

    fn clear_type(&mut self, entry_type: EntryType, name: Option<NameId>, unused: &mut Vec<NameId>) {
        match name {
            Some(name) => {
                let count = self.names.count(name, entry_type);
                if count == 0 {
                    return;
                }
                match entry_type {
                    EntryType::Mark => self.marks.remove(name, count),
                    EntryType::Measure => self.measures.remove(name, count),
                }
                self.names.forget(name, entry_type);
                if self.names.is_unused(name) {
                    unused.push(name);
                }
            }
            None => {
                match entry_type {
                    EntryType::Mark => self.marks.remove_all(),
                    EntryType::Measure => self.measures.remove_all(),
                }
                self.names.forget_all(entry_type, unused);
            }
        }
    }

    /// Whether an entry has this name. Dropped entries do not count.
    #[must_use]
    pub fn uses(&self, name: NameId) -> bool {
        !self.names.is_unused(name)
    }

    /// How many entries there are. O(1).
    #[must_use]
    pub fn count(&self, filter: Filter) -> usize {
        let of_type = |entry_type| match (filter.name, entry_type) {
            (Some(name), _) => self.names.count(name, entry_type),
            (None, EntryType::Mark) => self.marks.len(),
            (None, EntryType::Measure) => self.measures.len(),
        };
        EntryType::ALL.into_iter().filter(|&entry_type| filter.admits(entry_type)).map(of_type).sum()
    }

    /// How many more entries of this type fit; the next would be dropped when there is no room. [Determine if a
    /// performance entry buffer is
    /// full](https://w3c.github.io/performance-timeline/#dfn-determine-if-a-performance-entry-buffer-is-full).
    #[must_use]
    pub fn room(&self, entry_type: EntryType) -> usize {
        match entry_type {
            EntryType::Mark => self.marks.room(),
            EntryType::Measure => self.measures.room(),
        }
    }

    /// How many entries of these types were dropped because their buffer was full.
    #[must_use]
    pub fn dropped(&self, types: EntryTypes) -> u64 {
        let of = |entry_type, dropped| if types.contains(entry_type) { dropped } else { 0 };
        of(EntryType::Mark, self.marks.dropped()) + of(EntryType::Measure, self.measures.dropped())
    }

    /// How many marks and measures were made, including those that were dropped or cleared: the sequence number of the
    /// next.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.next.0
    }

    /// The memory of entries and names, in bytes.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.marks.bytes() + self.measures.bytes() + self.names.bytes()
    }
}

#[cfg(test)]
mod tests;
