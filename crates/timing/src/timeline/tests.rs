//! Timelines written as words: `a@3` marks `a` at 3 ms, `b@3+2` measures `b` from 3 ms for 2 ms. Names are letters.

use super::*;

fn name(letter: char) -> NameId {
    NameId(letter as u32 - 'a' as u32)
}

fn timeline(limits: Limits, entries: &str) -> Timeline {
    let mut timeline = Timeline::new(limits);
    append(&mut timeline, entries);
    timeline
}

fn append(timeline: &mut Timeline, entries: &str) {
    for word in entries.split_whitespace() {
        let (letter, times) = word.split_once('@').unwrap();
        let name = name(letter.parse().unwrap());
        match times.split_once('+') {
            None => timeline.mark(name, HighResTime(times.parse().unwrap())),
            Some((start, duration)) => {
                let range = Range {
                    start: HighResTime(start.parse().unwrap()),
                    duration: HighResTime(duration.parse().unwrap()),
                };
                timeline.append_measure(name, range)
            }
        };
    }
}

fn show(entries: Vec<Entry>) -> String {
    let words: Vec<String> = entries
        .iter()
        .map(|entry| {
            let letter = char::from_u32(entry.name.0 + 'a' as u32).unwrap();
            match entry.entry_type {
                EntryType::Mark => format!("{letter}@{}", entry.start.0),
                EntryType::Measure => format!("{letter}@{}+{}", entry.start.0, entry.duration.0),
            }
        })
        .collect();
    words.join(" ")
}

/// `""` is everything, `mark` and `measure` are types, a letter is a name.
fn filter(words: &str) -> Filter {
    let mut filter = Filter::default();
    for word in words.split_whitespace() {
        match word {
            "mark" => filter.entry_type = Some(EntryType::Mark),
            "measure" => filter.entry_type = Some(EntryType::Measure),
            letter => filter.name = Some(name(letter.parse().unwrap())),
        }
    }
    filter
}

#[test]
fn entries_come_in_time_order() {
    #[track_caller]
    fn check(entries: &str, wanted: &str, expected: &str) {
        assert_eq!(show(timeline(Limits::default(), entries).entries(filter(wanted))), expected);
    }
    check("", "", "");
    check("a@1 b@2 a@3", "", "a@1 b@2 a@3");
    check("a@1 b@2 a@3", "a", "a@1 a@3");
    check("a@1 b@2 a@3", "c", "");
    // Marks in the past, measures of older marks.
    check("a@3 b@1 a@2", "", "b@1 a@2 a@3");
    check("a@1 b@2 b@2+1 a@1+2 c@3", "", "a@1 a@1+2 b@2 b@2+1 c@3");
    check("a@1 b@2 b@2+1 a@1+2 c@3", "measure", "a@1+2 b@2+1");
    check("a@1 b@2 b@2+1 a@1+2 c@3", "mark", "a@1 b@2 c@3");
    check("a@1 b@2 b@2+1 a@1+2 c@3", "measure b", "b@2+1");
    // Entries with the same start stay in the order in which they were made.
    check("a@1 a@1+0 b@1 b@1+0", "", "a@1 a@1+0 b@1 b@1+0");
    check("a@5 b@0+1 c@0 d@-0 e@-0+1", "", "b@0+1 c@0 d@-0 e@-0+1 a@5");
    check("a@5+1 b@1+1 c@5+2 d@1+2", "", "b@1+1 d@1+2 a@5+1 c@5+2");
}

#[test]
fn the_draft_of_2012_lists_in_call_order() {
    #[track_caller]
    fn check(entries: &str, entry_type: EntryType, wanted: Option<char>, expected: &str) {
        let timeline = timeline(Limits::default(), entries);
        let mut entries = Vec::new();
        timeline.for_each_in_call_order(entry_type, wanted.map(name), |entry| entries.push(entry));
        assert_eq!(show(entries), expected);
    }
    check("a@3 b@1 a@2 a@7+1", EntryType::Mark, None, "a@3 b@1 a@2");
    check("a@3 b@1 a@2 a@7+1", EntryType::Mark, Some('a'), "a@3 a@2");
    check("a@3 b@1 a@2 a@7+1", EntryType::Mark, Some('z'), "");
    check("a@3 a@7+1 b@4+2 a@1+1", EntryType::Measure, Some('a'), "a@7+1 a@1+1");
}

#[test]
fn the_latest_mark_is_the_one_made_last() {
    #[track_caller]
    fn check(entries: &str, letter: char, expected: Option<f64>) {
        let timeline = timeline(Limits::default(), entries);
        assert_eq!(timeline.latest_mark(name(letter)).map(|time| time.0), expected, "{entries}");
    }
    check("a@1 a@5 a@3", 'a', Some(3.0));
    check("a@1", 'b', None);
    check("b@1+1", 'b', None);
    check("", 'z', None);
    assert_eq!(Timeline::new(Limits::default()).latest_mark(NameId(u32::MAX)), None);
}

#[test]
fn clearing_removes_and_reports_names_that_are_free() {
    #[track_caller]
    fn check(entries: &str, cleared: &str, left: &str, unused: &[char]) {
        let mut timeline = timeline(Limits::default(), entries);
        let got = timeline.clear(filter(cleared));
        assert_eq!(show(timeline.entries(Filter::default())), left, "{entries} - {cleared}");
        assert_eq!(got, unused.iter().map(|&letter| name(letter)).collect::<Vec<_>>());
        for &letter in unused {
            assert!(!timeline.uses(name(letter)) && timeline.latest_mark(name(letter)).is_none());
        }
    }
    check("a@1 b@2 a@3 c@4+1", "mark", "c@4+1", &['a', 'b']);
    check("a@1 b@2 a@3 c@4+1", "measure", "a@1 b@2 a@3", &['c']);
    check("a@1 b@2 a@3 c@4+1", "mark a", "b@2 c@4+1", &['a']);
    check("a@1 b@2 a@3 a@4+1", "mark a", "b@2 a@4+1", &[]);
    check("a@1 b@2 a@3 a@4+1", "mark", "a@4+1", &['b']);
    check("a@1 b@2", "mark z", "a@1 b@2", &[]);
    check("a@1 b@2", "measure a", "a@1 b@2", &[]);
    check("a@1 b@2+1", "", "", &['a', 'b']);
    check("", "", "", &[]);
}

#[test]
fn a_cleared_timeline_can_be_used() {
    let mut timeline = timeline(Limits::default(), "a@5 b@9 a@1+1");
    timeline.clear(filter("mark"));
    append(&mut timeline, "a@2 b@3");
    assert_eq!(show(timeline.entries(Filter::default())), "a@1+1 a@2 b@3");
    let sequences: Vec<u64> =
        timeline.entries(Filter::default()).iter().map(|entry| entry.sequence.0).collect();
    assert_eq!(sequences, [2, 3, 4]);
    assert_eq!(timeline.made(), 5);
}

#[test]
fn entries_that_do_not_fit_are_counted() {
    let limits = Limits { marks: 2, measures: 1 };
    let mut timeline = timeline(limits, "a@1 b@2 a@3 c@4+1 c@5 c@6+1");
    assert_eq!(show(timeline.entries(Filter::default())), "a@1 b@2 c@4+1");
    assert_eq!(timeline.dropped(EntryType::Mark.into()), 2);
    assert_eq!(timeline.dropped(EntryType::Measure.into()), 1);
    assert_eq!(timeline.dropped(EntryTypes(u32::MAX)), 3);
    // A measure cannot start from a dropped mark.
    assert_eq!(timeline.latest_mark(name('a')), Some(HighResTime(1.0)));
    assert_eq!((timeline.room(EntryType::Mark), timeline.room(EntryType::Measure)), (0, 0));

    timeline.clear(filter("mark a"));
    assert_eq!(timeline.room(EntryType::Mark), 1);
    append(&mut timeline, "d@7");
    assert_eq!(show(timeline.entries(filter("mark"))), "b@2 d@7");
    assert_eq!(timeline.entries(filter("d")).iter().map(|entry| entry.sequence.0).collect::<Vec<_>>(), [6]);
    // Dropped entries are not restored.
    assert_eq!(timeline.dropped(EntryType::Mark.into()), 2);
}

#[test]
fn ten_million_marks_against_a_bounded_buffer_lose_nothing_that_was_recorded() {
    const KEPT: u32 = 1_000_000;
    let mut timeline = Timeline::new(Limits { marks: KEPT, measures: 0 });
    for index in 0..10 * KEPT {
        let appended = timeline.mark(NameId(index % 100), HighResTime(f64::from(index)));
        assert_eq!(appended == Appended::Kept, index < KEPT);
    }
    assert_eq!(timeline.dropped(EntryType::Mark.into()), 9 * u64::from(KEPT));
    assert_eq!(timeline.made(), 10 * u64::from(KEPT));
    let mut index = 0;
    for entry in timeline.entries(Filter::default()) {
        assert_eq!((entry.name.0, entry.start.0), (index % 100, f64::from(index)));
        assert_eq!(entry.sequence.0, u64::from(index));
        index += 1;
    }
    assert_eq!(index, KEPT);
}

#[test]
fn a_mark_takes_16_bytes_and_a_measure_24() {
    assert_eq!((size_of::<Mark>(), size_of::<Measure>()), (16, 24));
    const MANY: usize = 1_000_000;
    /// One chunk that is not full yet, and the first names.
    const SLACK: usize = 8192 + 1024;
    let mut timeline = Timeline::new(Limits::default());
    for index in 0..MANY {
        timeline.mark(NameId(0), HighResTime(index as f64));
    }
    let marks = timeline.bytes();
    assert!((16 * MANY..16 * (MANY + SLACK)).contains(&marks), "{marks}");
    let range = Range { start: HighResTime::ZERO, duration: HighResTime::ZERO };
    for _ in 0..MANY {
        timeline.append_measure(NameId(0), range);
    }
    let measures = timeline.bytes() - marks;
    assert!((24 * MANY..24 * (MANY + SLACK)).contains(&measures), "{measures}");
    assert_eq!(timeline.count(filter("measure")), MANY);
}

#[test]
fn a_small_timeline_is_small() {
    let timeline = timeline(Limits::default(), "a@1 b@2 c@1+1");
    assert!(timeline.bytes() < 11_000, "{}", timeline.bytes());
}

#[test]
fn clearing_frees_memory() {
    #[track_caller]
    fn check(cleared: impl Fn(u32) -> bool, expected: std::ops::RangeInclusive<usize>) {
        let mut timeline = Timeline::new(Limits::default());
        for index in 0..100_000 {
            timeline.mark(NameId(index % 1_000), HighResTime(f64::from(index)));
        }
        for name in (0..1_000).filter(|&name| cleared(name)) {
            timeline.clear(Filter { entry_type: None, name: Some(NameId(name)) });
        }
        let bytes = timeline.bytes();
        assert!(expected.contains(&bytes), "{bytes}");
    }
    check(|_| true, 0..=8192 + 8);
    check(|name| name > 0, 0..=16 * 10_000);
    check(|_| false, 1_600_000..=1_800_000);
}

#[test]
fn marking_and_clearing_in_turn_does_not_grow() {
    let mut timeline = Timeline::new(Limits::default());
    append(&mut timeline, "a@1");
    for round in 0..100 {
        for index in 0..1_000 {
            timeline.mark(NameId(1 + index % 2), HighResTime(f64::from(round)));
        }
        timeline.clear(filter("b"));
        timeline.clear(filter("c"));
        // The first names, and the chunk that comes next.
        let bytes = timeline.bytes();
        assert!(bytes < 8192 + 16 * 1_000 + 200, "{bytes} after round {round}");
    }
    assert_eq!(show(timeline.entries(Filter::default())), "a@1");
}

#[test]
fn sequence_numbers_outlive_32_bits() {
    let sequences = |timeline: &Timeline| {
        timeline.entries(Filter::default()).iter().map(|e| e.sequence.0).collect::<Vec<_>>()
    };
    let mut timeline = Timeline::new(Limits::default());
    append(&mut timeline, "a@1");
    timeline.next = Sequence(u64::from(u32::MAX));
    append(&mut timeline, "b@2 b@3");
    assert_eq!(sequences(&timeline), [0, u64::from(u32::MAX), u64::from(u32::MAX) + 1]);
    // The last chunk is empty then, and the offset would be too large.
    timeline.clear(filter("b"));
    timeline.next = Sequence(1 << 50);
    let bytes = timeline.bytes();
    append(&mut timeline, "c@9 c@10");
    assert_eq!(sequences(&timeline), [0, 1 << 50, (1 << 50) + 1]);
    assert_eq!(show(timeline.entries(Filter::default())), "a@1 c@9 c@10");
    assert_eq!(timeline.bytes(), bytes);
}
