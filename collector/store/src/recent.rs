//! The ids of what came last.

use std::collections::HashSet;

use crate::ids::ProfileId;

/// The last ids, by which something repeated is recognised at once.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    younger: HashSet<ProfileId>,
    older: HashSet<ProfileId>,
}

/// Ids that are kept in each of two sets: some 20 MB each.
const MAX_RECENT: usize = 1 << 20;

impl Recent {
    pub(crate) fn contains(&self, id: ProfileId) -> bool {
        self.younger.contains(&id) || self.older.contains(&id)
    }

    pub(crate) fn insert(&mut self, id: ProfileId) {
        if self.younger.len() == MAX_RECENT {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(id);
    }

    pub(crate) fn remove(&mut self, id: ProfileId) {
        self.younger.remove(&id);
        self.older.remove(&id);
    }
}
