//! What was written a short time ago.

use std::collections::{HashMap, HashSet};

use crate::ids::{FrameHash, StackHash};
use crate::profile::Profile;

/// The function that stands for stacks beyond the limit.
pub const TOO_MANY_STACKS: &str = "(too many stacks)";

/// The stacks and frames that were written a short time ago, so that not every segment writes them again. Each day has
/// its own, because days are deleted one by one.
#[derive(Debug)]
pub struct Written {
    stacks: HashSet<(i64, StackHash)>,
    frames: HashSet<(i64, FrameHash)>,
    new_stacks: NewStacks,
    limit: usize,
}

/// How many new stacks applications have had in an hour.
pub type NewStacks = HashMap<(String, i64), usize>;

/// What is known of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It was written.
    Yes,
    /// It is to be written.
    New,
    /// It is not to be written.
    TooMany,
}

/// An hour and a day in microseconds.
const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

/// Numbers that are kept: some 70 MB. When there are more, all are forgotten, and then written once more.
const MAX_WRITTEN: usize = 1 << 21;

/// Hours of applications whose new stacks are counted.
const MAX_HOURS: usize = 1 << 12;

impl Written {
    /// Nothing was written. An application may have this many new stacks in an hour.
    pub fn new(limit: usize) -> Self {
        Self { stacks: HashSet::new(), frames: HashSet::new(), new_stacks: HashMap::new(), limit }
    }

    /// Forgets what was written if that has become too much.
    pub fn forget_if_large(&mut self) {
        if self.stacks.len() + self.frames.len() > MAX_WRITTEN {
            self.forget();
        }
        if self.new_stacks.len() > MAX_HOURS {
            self.new_stacks.clear();
        }
    }

    fn forget(&mut self) {
        self.stacks.clear();
        self.frames.clear();
    }

    /// The counts of new stacks.
    pub fn counts(&self) -> NewStacks {
        self.new_stacks.clone()
    }

    /// Goes back to these counts, and forgets what was written, for it may not be there.
    pub fn go_back(&mut self, counts: NewStacks) {
        self.forget();
        self.new_stacks = counts;
    }

    /// Whether the stack of a profile was written; if it is new, it is counted as written from now on.
    pub fn stack(&mut self, profile: &Profile, stack: StackHash) -> Known {
        let key = (profile.time.div_euclid(DAY), stack);
        if self.stacks.contains(&key) {
            return Known::Yes;
        }
        let hour = (profile.labels.app.clone(), profile.time.div_euclid(HOUR));
        let count = self.new_stacks.entry(hour).or_default();
        if *count >= self.limit {
            return Known::TooMany;
        }
        *count += 1;
        self.stacks.insert(key);
        Known::New
    }

    /// Whether the frame of a profile is new; it is counted as written from now on.
    pub fn frame(&mut self, profile: &Profile, frame: FrameHash) -> bool {
        self.frames.insert((profile.time.div_euclid(DAY), frame))
    }
}
