//! The longest sessions, scaled down.

use super::sessions::SortedSessions;

/// A limit of the whole time of sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit(Option<i64>);

impl Limit {
    /// The limit that the longest `part` of the sessions of both releases together are above. Sessions without time do
    /// not count.
    pub fn of(releases: [&SortedSessions; 2], part: f64) -> Self {
        let mut wholes_us: Vec<i64> =
            releases.iter().flat_map(|sessions| sessions.wholes_us()).copied().filter(|&us| us > 0).collect();
        // NaN and negative numbers become 0.
        let above = (part * wholes_us.len() as f64).ceil() as usize;
        if above == 0 || above >= wholes_us.len() {
            return Self(None);
        }
        Self(Some(*wholes_us.select_nth_unstable_by(above, |a, b| b.cmp(a)).1))
    }

    pub fn whole_us(self) -> Option<i64> {
        self.0
    }

    pub fn is_exceeded_by(self, whole_us: i64) -> bool {
        self.0.is_some_and(|limit_us| whole_us > limit_us)
    }

    /// What the whole time and the times of a session are multiplied with.
    pub fn factor(self, whole_us: i64) -> f64 {
        match self.0 {
            Some(limit_us) if whole_us > limit_us => limit_us as f64 / whole_us as f64,
            _ => 1.0,
        }
    }
}
