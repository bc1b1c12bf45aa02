//! What is compared, and when: without any clock, file or table.

use std::collections::BTreeMap;

use selfprof_significance::Settings;
use selfprof_store::alerts::Plan;
use selfprof_store::query::ReleasePage;

/// How often a page of a release is looked at, at most: each time when it has twice the sessions.
pub const LOOKS: u32 = 8;

/// The probability that all looks at all pages of a release together name anything, if nothing changed.
const ERROR_RATE: f64 = 0.05;

/// The pages of a release that are compared: those with the most sessions before.
const MAX_PAGES: usize = 20;

/// Data of so many days count.
pub const LOOKBACK: i64 = 30 * DAY;

/// A release that was seen in the first days of these may be older than they are, so it is not new.
const SETTLED: i64 = 7 * DAY;

const DAY: i64 = 86_400_000_000;

/// The releases, the earliest first, without profiles that name none.
fn in_order(rows: &[ReleasePage]) -> Vec<(&str, i64)> {
    let mut first_of: BTreeMap<&str, i64> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.release.is_empty()) {
        let first = first_of.entry(&row.release).or_insert(row.first);
        *first = row.first.min(*first);
    }
    let mut releases: Vec<_> = first_of.into_iter().collect();
    releases.sort_by_key(|&(release, first)| (first, release));
    releases
}

/// The sessions of a release on a page.
pub fn sessions(rows: &[ReleasePage], release: &str, page: &str) -> u64 {
    let row = rows.iter().find(|row| row.release == release && row.page == page);
    row.map_or(0, |row| row.sessions)
}

/// The releases that are new, of data that begin at a time.
pub fn new_releases(rows: &[ReleasePage], begin: i64) -> Vec<String> {
    let releases = in_order(rows).into_iter().skip(1);
    let is_new = |&(_, first): &(&str, i64)| first >= begin.saturating_add(SETTLED);
    releases.filter(is_new).map(|(release, _)| release.to_owned()).collect()
}

/// What a new release is compared with: the last one before it that has enough sessions. `None` until both have enough
/// on some page.
pub fn plan(rows: &[ReleasePage], new: &str, min_sessions: u64) -> Option<Plan> {
    let releases = in_order(rows);
    let place = releases.iter().position(|&(release, _)| release == new)?;
    let pages_of = |release: &str| -> Vec<&ReleasePage> {
        rows.iter().filter(|row| row.release == release && row.sessions >= min_sessions).collect()
    };
    let earlier = releases[..place].iter().rev();
    let (base, mut pages) =
        earlier.map(|&(release, _)| (release, pages_of(release))).find(|(_, pages)| !pages.is_empty())?;
    pages.sort_by(|a, b| b.sessions.cmp(&a.sessions).then_with(|| a.page.cmp(&b.page)));
    pages.truncate(MAX_PAGES);
    let is_ready = pages.iter().any(|row| sessions(rows, new, &row.page) >= min_sessions);
    let pages = pages.into_iter().map(|row| row.page.clone()).collect();
    is_ready.then(|| Plan { base: base.to_owned(), pages })
}

/// Which look at a page is due, from 0: the last one for which there are enough sessions.
pub fn look(sessions: u64, min_sessions: u64) -> Option<u32> {
    (0..LOOKS).rev().find(|&look| sessions >= min_sessions.saturating_mul(1 << look))
}

/// The p-value that a function needs at each look.
pub fn limit(plan: &Plan) -> f64 {
    ERROR_RATE / f64::from(LOOKS) / plan.pages.len().max(1) as f64
}

/// How releases are compared. P-values can be less than half of the limit.
pub fn settings(limit: f64) -> Settings {
    let standard = Settings::default();
    let divisions = (2.0 / limit).ceil() as usize;
    // Answers to questions come first.
    Settings { divisions: divisions.max(standard.divisions), threads: 1, ..standard }
}

#[cfg(test)]
mod tests {
    use selfprof_significance::{FunctionIndex, SessionKey, Sessions, compare};

    use super::*;

    fn rows(rows: &[(&str, &str, i64, u64)]) -> Vec<ReleasePage> {
        let row = |&(release, page, first, sessions): &(&str, &str, i64, u64)| ReleasePage {
            release: release.into(),
            page: page.into(),
            first,
            sessions,
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn a_release_is_compared_with_the_one_before_that_has_enough_sessions() {
        let rows = rows(&[
            ("", "/", 0, 900),
            ("1", "/", 10, 500),
            ("1", "/cart", 10, 200),
            ("1", "/help", 10, 5),
            ("2-beta", "/", 20, 3),
            ("2", "/", 30, 100),
            ("2", "/cart", 25, 50),
        ]);
        assert_eq!(new_releases(&rows, 20 - SETTLED), ["2-beta", "2"]);
        assert_eq!(new_releases(&rows, 21 - SETTLED), ["2"]);
        let expected = Plan { base: "1".into(), pages: vec!["/".into(), "/cart".into()] };
        assert_eq!(plan(&rows, "2", 100), Some(expected));
        assert_eq!(plan(&rows, "2", 101), None);
        assert_eq!(plan(&rows, "1", 100), None);
        assert_eq!(plan(&rows, "3", 100), None);
    }

    #[test]
    fn looks_are_at_doubled_sessions() {
        for (sessions, expected) in
            [(0, None), (99, None), (100, Some(0)), (199, Some(0)), (200, Some(1)), (12_800, Some(7))]
        {
            assert_eq!(look(sessions, 100), expected, "{sessions}");
        }
        assert_eq!(look(u64::MAX, 100), Some(LOOKS - 1));
        assert_eq!(look(u64::MAX, u64::MAX), Some(LOOKS - 1));
    }

    /// Sessions of one release: 20 functions, of which each runs in one of three sessions, some a hundred times as long
    /// as others.
    struct Simulation(u64);

    impl Simulation {
        fn number(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn add(&mut self, sessions: &mut Sessions, count: u64) {
            for _ in 0..count {
                let pace = 100.0_f64.powf(self.number());
                let ran: Vec<(FunctionIndex, i64)> = (0..20)
                    .filter_map(|function| {
                        let (choice, time) = (self.number(), self.number());
                        (choice < 1.0 / 3.0)
                            .then_some((FunctionIndex(function), (1_000.0 * pace * time) as i64))
                    })
                    .collect();
                let whole = ran.iter().map(|(_, time)| time).sum();
                sessions.push(SessionKey((self.number() * 1e18) as u128), whole, ran);
            }
        }
    }

    #[test]
    fn looking_again_and_again_raises_no_more_false_alarms_than_said() {
        let plan = Plan { base: "1".into(), pages: vec!["/".into()] };
        let limit = limit(&plan);
        let settings =
            Settings { least_part_of_function: 0.0, least_part_of_session: 0.0, ..settings(limit) };
        let releases = 150;
        let (mut alarms, mut naive) = (0, 0);
        for release in 0..releases {
            let mut simulation = Simulation(release);
            let (mut base, mut new) = (Sessions::new(), Sessions::new());
            let mut least = 1.0_f64;
            // At 20, 40, 80, 160 and 320 sessions.
            for look in 0..5_u32 {
                let count = if look == 0 { 20 } else { 20 << (look - 1) };
                simulation.add(&mut base, count);
                simulation.add(&mut new, count);
                let comparison = compare(&base, &new, &settings);
                least = comparison.functions.iter().filter_map(|one| one.adjusted_p).fold(least, f64::min);
            }
            alarms += u64::from(least <= limit);
            naive += u64::from(least <= ERROR_RATE);
        }
        assert!(alarms * 100 <= releases * 5, "{alarms} of {releases}");
        // What happens if each look may err as often as one alone.
        assert!(naive * 100 >= releases * 10, "{naive} of {releases}");
    }

    #[test]
    fn all_looks_at_all_pages_share_the_error_rate() {
        let plan = Plan { base: "1".into(), pages: vec![String::new(); MAX_PAGES] };
        let limit = limit(&plan);
        assert!((limit * f64::from(LOOKS) * MAX_PAGES as f64 - 0.05).abs() < 1e-12);
        // The least p-value is below it.
        assert!(1.0 / (settings(limit).divisions as f64 + 1.0) < limit);
        assert_eq!(settings(0.05).divisions, 999);
    }
}
