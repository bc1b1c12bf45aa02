//! What was read from the tables and never changes, kept in memory.

use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, of a limited size together. Those that were not asked for longest are dropped. It belongs to the
/// [`Reader`](super::Reader), whose queries share it.
pub(super) struct Known<K, V> {
    younger: HashMap<K, V>,
    older: HashMap<K, V>,
    /// The size of the younger ones, in bytes.
    size: usize,
    limit: usize,
}

impl<K: Hash + Eq, V: Clone> Known<K, V> {
    /// Takes this many bytes at most, and one value more.
    pub fn new(limit: usize) -> Self {
        Self { younger: HashMap::new(), older: HashMap::new(), size: 0, limit }
    }

    /// A value. `size` is its size in bytes.
    pub fn get(&mut self, key: &K, size: impl Fn(&V) -> usize) -> Option<V> {
        if let Some(value) = self.younger.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.older.remove_entry(key)?;
        self.insert(key, value.clone(), size(&value));
        Some(value)
    }

    /// Keeps a value of a size in bytes.
    pub fn insert(&mut self, key: K, value: V, size: usize) {
        let entry = size + size_of::<(K, V)>();
        if self.size + entry > self.limit / 2 {
            self.older = std::mem::take(&mut self.younger);
            self.size = 0;
        }
        // A value that was there is counted twice until it is older.
        self.size += entry;
        self.younger.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_longest_is_dropped() {
        let entry = size_of::<(i64, u8)>();
        let mut known = Known::new(2 * 3 * (entry + 10));
        let size = |_: &u8| 10;
        for key in 0..100_i64 {
            known.insert(key, 1, 10);
            assert_eq!(known.get(&key, size), Some(1));
            // It is asked for again and again.
            assert_eq!(known.get(&0, size), Some(1), "{key}");
            assert!(known.younger.len() + known.older.len() <= 6);
        }
        assert_eq!(known.get(&50, size), None);
        assert!(known.get(&99, size).is_some());
    }

    #[test]
    fn a_value_that_is_too_large_takes_the_place_of_the_others() {
        let mut known = Known::new(100);
        known.insert(1, 'a', 10_000);
        assert_eq!(known.younger.len(), 1);
        known.insert(2, 'b', 10_000);
        assert_eq!((known.younger.len(), known.older.len()), (1, 1));
    }
}
