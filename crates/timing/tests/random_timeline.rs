//! Random programs, compared with a model that keeps a plain list and runs the specification's steps on it.

use proptest::prelude::*;
use selfprof_timing::{
    Appended, Bound, Bounds, Entry, EntryType, Filter, HighResTime, Limits, MeasureError, NameId, Range,
    Sequence, Timeline,
};

const NAMES: u32 = 6;
const NOW: HighResTime = HighResTime(50.0);

/// One call of a program.
#[derive(Clone, Debug)]
enum Call {
    Mark {
        name: u32,
        start: f64,
    },
    Measure {
        name: u32,
        bounds: Bounds,
    },
    /// Many marks, so that chunks fill.
    Burst {
        name: u32,
        count: u32,
    },
    Clear {
        filter: Filter,
    },
}

fn time() -> impl Strategy<Value = f64> {
    // Few different times, so that some entries have the same start, and some unusual ones.
    prop_oneof![
        8 => (0_u32..20).prop_map(f64::from),
        1 => Just(-0.0),
        1 => Just(0.1 + 0.2),
        1 => Just(f64::MAX),
    ]
}

fn bound() -> impl Strategy<Value = Bound> {
    prop_oneof![
        3 => (0..NAMES).prop_map(|name| Bound::Mark(NameId(name))),
        2 => prop_oneof![time(), Just(-1.0)].prop_map(|time| Bound::Time(HighResTime(time))),
        2 => Just(Bound::Omitted),
        1 => Just(Bound::UnknownName),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let entry_type = prop::option::of(prop_oneof![Just(EntryType::Mark), Just(EntryType::Measure)]);
    let name = prop::option::of((0..NAMES).prop_map(NameId));
    (entry_type, name).prop_map(|(entry_type, name)| Filter { entry_type, name })
}

fn call() -> impl Strategy<Value = Call> {
    let bounds = (bound(), bound(), prop::option::of(time()));
    prop_oneof![
        8 => (0..NAMES, time()).prop_map(|(name, start)| Call::Mark { name, start }),
        6 => (0..NAMES, bounds).prop_map(|(name, (start, end, duration))| Call::Measure {
            name,
            bounds: Bounds { start, end, duration: duration.map(HighResTime) },
        }),
        1 => (0..NAMES, 0_u32..300).prop_map(|(name, count)| Call::Burst { name, count }),
        3 => filter().prop_map(|filter| Call::Clear { filter }),
    ]
}

/// The specification's lists.
#[derive(Default)]
struct Oracle {
    made: u64,
    entries: Vec<Entry>,
    dropped: [u64; 2],
}

impl Oracle {
    fn count(&self, entry_type: EntryType) -> usize {
        self.entries.iter().filter(|entry| entry.entry_type == entry_type).count()
    }

    fn push(&mut self, limits: Limits, entry_type: EntryType, name: u32, range: Range) -> Appended {
        let sequence = Sequence(self.made);
        self.made += 1;
        let limit = if entry_type == EntryType::Mark { limits.marks } else { limits.measures };
        if self.count(entry_type) >= limit as usize {
            self.dropped[entry_type as usize - 1] += 1;
            return Appended::Dropped;
        }
        let Range { start, duration } = range;
        self.entries.push(Entry { entry_type, name: NameId(name), sequence, start, duration });
        Appended::Kept
    }

    fn filtered(&self, filter: Filter) -> Vec<Entry> {
        let wanted = |entry: &&Entry| {
            filter.entry_type.is_none_or(|entry_type| entry_type == entry.entry_type)
                && filter.name.is_none_or(|name| name == entry.name)
        };
        self.entries.iter().filter(wanted).copied().collect()
    }

    fn latest_mark(&self, name: NameId) -> Option<f64> {
        self.filtered(Filter { entry_type: Some(EntryType::Mark), name: Some(name) })
            .last()
            .map(|entry| entry.start.0)
    }

    /// Convert a mark to a timestamp.
    fn timestamp(&self, bound: Bound) -> Result<f64, &'static str> {
        match bound {
            Bound::Mark(name) => self.latest_mark(name).ok_or("SyntaxError"),
            Bound::Time(HighResTime(time)) if time < 0.0 => Err("TypeError"),
            Bound::Time(HighResTime(time)) => Ok(time),
            _ => Err("SyntaxError"),
        }
    }

    fn measure(&self, bounds: &Bounds) -> Result<(f64, f64), &'static str> {
        let given = |bound| bound != Bound::Omitted;
        let duration = || bounds.duration.map(|duration| duration.0);
        match (given(bounds.start), given(bounds.end), duration()) {
            (true, true, Some(_)) | (false, false, Some(_)) => return Err("TypeError"),
            _ => {}
        }
        let end = if given(bounds.end) {
            self.timestamp(bounds.end)?
        } else if let (true, Some(duration)) = (given(bounds.start), duration()) {
            self.timestamp(bounds.start)? + duration
        } else {
            NOW.0
        };
        let start = if given(bounds.start) {
            self.timestamp(bounds.start)?
        } else if let Some(duration) = duration() {
            self.timestamp(bounds.end)? - duration
        } else {
            0.0
        };
        Ok((start, end - start))
    }

    fn clear(&mut self, filter: Filter) -> Vec<NameId> {
        let removed = self.filtered(filter);
        self.entries.retain(|entry| !removed.contains(entry));
        let mut unused: Vec<NameId> = removed.iter().map(|entry| entry.name).collect();
        unused.retain(|&name| self.entries.iter().all(|entry| entry.name != name));
        unused.sort();
        unused.dedup();
        unused
    }
}

fn check(timeline: &Timeline, oracle: &Oracle, filter: Filter) -> Result<(), TestCaseError> {
    let mut expected = oracle.filtered(filter);
    expected.sort_by(|a, b| a.start.0.partial_cmp(&b.start.0).unwrap());
    prop_assert_eq!(timeline.count(filter), expected.len());
    prop_assert_eq!(timeline.entries(filter), expected);
    for entry_type in [EntryType::Mark, EntryType::Measure] {
        let mut in_call_order = Vec::new();
        timeline.for_each_in_call_order(entry_type, filter.name, |entry| in_call_order.push(entry));
        prop_assert_eq!(in_call_order, oracle.filtered(Filter { entry_type: Some(entry_type), ..filter }));
        prop_assert_eq!(timeline.dropped(entry_type.into()), oracle.dropped[entry_type as usize - 1]);
    }
    for name in (0..NAMES).map(NameId) {
        prop_assert_eq!(timeline.latest_mark(name).map(|time| time.0), oracle.latest_mark(name));
        prop_assert_eq!(timeline.uses(name), oracle.entries.iter().any(|entry| entry.name == name));
    }
    prop_assert_eq!(timeline.made(), oracle.made);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_timeline_behaves_as_the_specifications_lists(
        calls in prop::collection::vec((call(), filter()), 1..60),
        limits in prop_oneof![
            Just(Limits::default()),
            (0_u32..100, 0_u32..8).prop_map(|(marks, measures)| Limits { marks, measures }),
        ],
    ) {
        let mut timeline = Timeline::new(limits);
        let mut oracle = Oracle::default();
        for (call, filter) in calls {
            match call {
                Call::Mark { name, start } => {
                    let range = Range { start: HighResTime(start), duration: HighResTime::ZERO };
                    let expected = oracle.push(limits, EntryType::Mark, name, range);
                    prop_assert_eq!(timeline.mark(NameId(name), range.start), expected);
                }
                Call::Burst { name, count } => {
                    for index in 0..count {
                        let range =
                            Range { start: HighResTime(f64::from(index / 2)), duration: HighResTime::ZERO };
                        oracle.push(limits, EntryType::Mark, name, range);
                        timeline.mark(NameId(name), range.start);
                    }
                }
                Call::Measure { name, bounds } => {
                    let expected = oracle.measure(&bounds);
                    let got = timeline.measure(NameId(name), &bounds, || NOW);
                    let shown = got.map(|range| (range.start.0, range.duration.0));
                    prop_assert_eq!(shown.map_err(|error: MeasureError| error.name()), expected);
                    if let Ok(range) = got {
                        oracle.push(limits, EntryType::Measure, name, range);
                    }
                }
                Call::Clear { filter } => {
                    let mut unused = timeline.clear(filter);
                    unused.sort();
                    prop_assert_eq!(unused, oracle.clear(filter));
                }
            }
            check(&timeline, &oracle, filter)?;
        }
        check(&timeline, &oracle, Filter::default())?;
    }
}
