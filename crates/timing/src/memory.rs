//! Counts the memory of several timelines together.

use std::cell::Cell;
use std::rc::Rc;

/// A number of bytes that timelines of one thread may take together. Clones count together.
#[derive(Clone)]
pub struct SharedMemory {
    used: Rc<Cell<usize>>,
    limit: usize,
}

impl SharedMemory {
    /// Memory of which nothing is used. When `limit` bytes are, timelines drop entries. They take up to 300 kB more.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { used: Rc::default(), limit }
    }

    /// How many bytes are used.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.get()
    }

    /// No bytes yet.
    pub(crate) fn hold(&self) -> Held {
        Held { memory: self.clone(), bytes: 0 }
    }
}

/// The bytes that one part of a timeline takes. They are given back when it is dropped.
pub(crate) struct Held {
    memory: SharedMemory,
    bytes: usize,
}

impl Held {
    /// Whether there are no more bytes to take.
    #[inline]
    pub fn is_all_taken(&self) -> bool {
        self.memory.used.get() >= self.memory.limit
    }

    /// Takes or gives back, so that these are the bytes.
    pub fn set(&mut self, bytes: usize) {
        self.memory.used.set(self.memory.used.get() - self.bytes + bytes);
        self.bytes = bytes;
    }

    /// No bytes yet, of the same memory.
    pub fn another(&self) -> Self {
        self.memory.hold()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}
