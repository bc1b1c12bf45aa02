//! Copying source maps from V8 to a journal.

use std::collections::VecDeque;
use std::sync::Arc;

use selfprof_v8::{MappingUrls, UrlCopy};

use crate::building_thread;
use crate::journal::Journal;
use crate::script_maps::SampledScript;

/// Copies URLs out of V8 for a streamed recording. Belongs to the recorded thread.
pub struct MapCopier {
    urls: MappingUrls,
    journal: Arc<Journal>,
    /// The scripts that were taken from the wanted ones.
    next: VecDeque<SampledScript>,
    copying: Option<(SampledScript, UrlCopy)>,
}

impl MapCopier {
    /// Copies the URLs that `journal` wants.
    pub fn new(urls: MappingUrls, journal: Arc<Journal>) -> Self {
        Self { urls, journal, next: VecDeque::new(), copying: None }
    }

    /// A segment was cut. Scripts that were compiled before the one before it are no longer needed unless they are
    /// wanted.
    pub fn age(&mut self) {
        self.take_wanted();
        self.urls.age();
    }

    fn take_wanted(&mut self) {
        for script in self.journal.maps().take_wanted() {
            self.urls.keep(script.id);
            self.next.push_back(script);
        }
    }

    /// Copies about `count` characters, and has the building thread write the URLs that are complete. Returns whether
    /// some are missing.
    pub fn copy(&mut self, mut count: usize) -> bool {
        loop {
            let Some((script, mut copy)) = self.copying.take().or_else(|| self.begin()) else { return false };
            if count == 0 {
                self.copying = Some((script, copy));
                return true;
            }
            let missing = copy.missing();
            if !self.urls.copy_more(&mut copy, count) {
                continue;
            }
            count -= missing - copy.missing();
            if copy.missing() > 0 {
                self.copying = Some((script, copy));
            } else {
                self.urls.forget(script.id);
                let journal = Arc::clone(&self.journal);
                building_thread::run(move || journal.append_map(&script.resource, &copy.into_text()));
            }
        }
    }

    /// The next script that has a URL, if it is not too long.
    fn begin(&mut self) -> Option<(SampledScript, UrlCopy)> {
        self.take_wanted();
        loop {
            let script = self.next.pop_front()?;
            let Some(copy) = self.urls.begin_copy(script.id) else { continue };
            if self.journal.maps().has_room(copy.length()) {
                return Some((script, copy));
            }
            self.urls.forget(script.id);
            let journal = Arc::clone(&self.journal);
            building_thread::run(move || journal.append_left_out_maps(1));
        }
    }
}
