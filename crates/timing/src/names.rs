//! For each name: how many entries have it, and the start of its latest mark.

use crate::{EntryType, HighResTime, NameId};

/// One name. All zeros when no entry has it.
#[derive(Clone, Copy, Default)]
struct Usage {
    /// The start of the latest mark, when there is a mark.
    latest: f64,
    marks: u32,
    measures: u32,
}

impl Usage {
    fn count(&mut self, entry_type: EntryType) -> &mut u32 {
        match entry_type {
            EntryType::Mark => &mut self.marks,
            EntryType::Measure => &mut self.measures,
        }
    }

    fn is_unused(self) -> bool {
        self.marks == 0 && self.measures == 0
    }
}

const BLOCK: usize = 512;

/// The names of a timeline, by id. A block is allocated with the first of its names, so that a large id costs no more
/// than a pointer per block below it.
pub(crate) struct Names {
    blocks: Vec<Option<Box<[Usage; BLOCK]>>>,
}

impl Names {
    /// No names.
    pub fn new() -> Self {
        Self { blocks: Vec::new() }
    }

    #[inline]
    fn place(name: NameId) -> (usize, usize) {
        (name.0 as usize / BLOCK, name.0 as usize % BLOCK)
    }

    fn get(&self, name: NameId) -> Usage {
        let (block, index) = Self::place(name);
        self.blocks.get(block).and_then(Option::as_ref).map_or_else(Usage::default, |block| block[index])
    }

    #[inline]
    fn get_mut(&mut self, name: NameId) -> &mut Usage {
        let (block, index) = Self::place(name);
        if self.blocks.get(block).is_none_or(Option::is_none) {
            self.allocate(block);
        }
        let block = self.blocks[block].get_or_insert_with(|| Box::new([Usage::default(); BLOCK]));
        &mut block[index]
    }

    #[cold]
    fn allocate(&mut self, block: usize) {
        if block >= self.blocks.len() {
            self.blocks.resize_with(block + 1, || None);
        }
        self.blocks[block] = Some(Box::new([Usage::default(); BLOCK]));
    }

    /// A mark of this name was appended.
    #[inline]
    pub fn add_mark(&mut self, name: NameId, start: HighResTime) {
        let usage = self.get_mut(name);
        usage.marks += 1;
        usage.latest = start.0;
    }

    /// A measure of this name was appended.
    #[inline]
    pub fn add_measure(&mut self, name: NameId) {
        self.get_mut(name).measures += 1;
    }

    /// How many entries of the type have this name.
    pub fn count(&self, name: NameId, entry_type: EntryType) -> usize {
        *self.get(name).count(entry_type) as usize
    }

    /// Whether no entry has this name.
    pub fn is_unused(&self, name: NameId) -> bool {
        self.get(name).is_unused()
    }

    /// The start of the latest mark with this name; `None` when there is none.
    #[inline]
    pub fn latest_mark(&self, name: NameId) -> Option<HighResTime> {
        let usage = self.get(name);
        (usage.marks > 0).then_some(HighResTime(usage.latest))
    }

    /// The entries of this type and name were removed.
    pub fn forget(&mut self, name: NameId, entry_type: EntryType) {
        if self.count(name, entry_type) > 0 {
            *self.get_mut(name).count(entry_type) = 0;
        }
    }

    /// All entries of this type were removed. Adds the names that only they had to `unused`.
    pub fn forget_all(&mut self, entry_type: EntryType, unused: &mut Vec<NameId>) {
        for (number, block) in self.blocks.iter_mut().enumerate() {
            for (index, usage) in block.iter_mut().flat_map(|block| block.iter_mut()).enumerate() {
                if std::mem::take(usage.count(entry_type)) > 0 && usage.is_unused() {
                    unused.push(NameId((number * BLOCK + index) as u32));
                }
            }
        }
    }

    /// Frees the memory for names, when no entry is left.
    pub fn forget_names(&mut self) {
        // A program that marks and clears in turn keeps its first block.
        self.blocks.truncate(1);
        self.blocks.shrink_to_fit();
    }

    /// Its memory, in bytes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        let pointers = self.blocks.capacity() * size_of::<Option<Box<Usage>>>();
        pointers + self.blocks.iter().flatten().count() * size_of::<[Usage; BLOCK]>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_id_costs_no_more_than_pointers() {
        let mut names = Names::new();
        names.add_measure(NameId(u32::MAX));
        assert_eq!(names.bytes(), BLOCK * 16 + (64 << 20));
    }

    #[test]
    fn a_name_costs_16_bytes() {
        assert_eq!(size_of::<Usage>(), 16);
    }
}
