//! The times in which a program is recorded.

use std::time::Duration;

use selfprof_trace::Micros;

/// The times in which a program is recorded, on the system's monotonic clock. By default, that is always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// When each window begins and ends, in order. The end of the last one may be unknown.
    list: Vec<(Micros, Option<Micros>)>,
    /// How much of the end is kept.
    last: Option<Micros>,
}

impl Windows {
    /// Recording begins at `from`, or else with the first [`toggle`](Self::toggle).
    pub fn new(from: Option<Micros>, last: Option<Duration>) -> Self {
        let last = last.map(|last| Micros(last.as_micros().try_into().unwrap_or(u64::MAX)));
        Self { list: from.map(|from| (from, None)).into_iter().collect(), last }
    }

    /// Whether a window is open at this time.
    pub fn is_open(&self, now: Micros) -> bool {
        self.list.last().is_some_and(|&(from, to)| from <= now && to.is_none_or(|to| now < to))
    }

    /// Closes the window if one is open, and opens one otherwise.
    pub fn toggle(&mut self, now: Micros) {
        if self.is_open(now) {
            self.close(now);
        } else {
            // A window that was to open later opens now.
            self.list.retain(|&(from, _)| from < now);
            self.list.push((now, None));
        }
    }

    /// Closes the window if one is open.
    pub fn close(&mut self, now: Micros) {
        if let Some((_, to @ None)) = self.list.last_mut() {
            *to = Some(now);
        }
    }

    /// Whether a window was open at any time. `end` is when the recording ended.
    pub fn was_open(&self, end: Micros) -> bool {
        self.list.iter().any(|&(from, to)| from < to.unwrap_or(end))
    }

    /// Whether a sample of this time is kept. `end` is when the recording ended.
    pub fn contains(&self, time: Micros, end: Micros) -> bool {
        let is_in_window =
            |&(from, to): &(Micros, Option<Micros>)| (from..to.unwrap_or(Micros(u64::MAX))).contains(&time);
        // The recording of the last window may have ended before.
        let end = self.list.last().and_then(|&(_, to)| to).map_or(end, |to| to.min(end));
        let start = self.last.map_or(Micros::ZERO, |last| end.saturating_sub(last));
        time >= start && self.list.iter().any(is_in_window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times from 0 to 20 that are kept, as `[from, to)`.
    #[track_caller]
    fn check(windows: &Windows, end: u64, expected: &[(u64, u64)]) {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for time in (0..20).filter(|&time| windows.contains(Micros(time), Micros(end))) {
            match found.last_mut() {
                Some((_, to)) if *to == time => *to += 1,
                _ => found.push((time, time + 1)),
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn everything_is_kept_by_default() {
        let windows = Windows::new(Some(Micros(0)), None);
        check(&windows, 20, &[(0, 20)]);
    }

    #[test]
    fn a_delay_leaves_the_beginning_out() {
        let mut windows = Windows::new(Some(Micros(5)), None);
        assert!(!windows.is_open(Micros(4)) && windows.is_open(Micros(5)));
        assert!(!windows.was_open(Micros(5)) && windows.was_open(Micros(6)));
        check(&windows, 20, &[(5, 20)]);
        windows.close(Micros(9));
        assert!(!windows.is_open(Micros(9)));
        check(&windows, 20, &[(5, 9)]);
    }

    #[test]
    fn toggling_opens_and_closes() {
        let mut windows = Windows::new(None, None);
        check(&windows, 20, &[]);
        assert!(!windows.was_open(Micros(20)));
        for now in [3, 6, 10] {
            windows.toggle(Micros(now));
        }
        check(&windows, 20, &[(3, 6), (10, 20)]);
        windows.close(Micros(12));
        windows.close(Micros(14));
        check(&windows, 20, &[(3, 6), (10, 12)]);
        // Before the delay is over.
        let mut windows = Windows::new(Some(Micros(8)), None);
        windows.toggle(Micros(2));
        check(&windows, 20, &[(2, 20)]);
    }

    #[test]
    fn the_last_seconds_are_kept() {
        let windows = Windows::new(Some(Micros(0)), Some(Duration::from_micros(4)));
        check(&windows, 20, &[(16, 20)]);
        check(&windows, 3, &[(0, 20)]);
        let mut windows = Windows::new(Some(Micros(0)), Some(Duration::from_micros(4)));
        windows.close(Micros(18));
        check(&windows, 20, &[(14, 18)]);
    }
}
