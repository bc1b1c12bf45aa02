//! Profiles go in, and the times of their functions come out.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use selfprof_significance::{Settings, Verdict};
use selfprof_store::filter::Filter;
use selfprof_store::log::SegmentLimits;
use selfprof_store::profile::{CompactTrace, Labels, Profile, Sent};
use selfprof_store::query::functions::Functions;
use selfprof_store::query::series::Step;
use selfprof_store::query::{Reader, Selection};
use selfprof_store::tables::Location;
use selfprof_store::upkeep::{Limits, Settings as UpkeepSettings, Upkeep};
use selfprof_store::{Acknowledged, Added, Options, STACKS_PER_HOUR, Store};

/// 2026-11-23 in microseconds.
const NOON: i64 = 1_795_435_200_000_000;

fn profile(release: &str, id: &str, millis: u32) -> Profile {
    profile_of(release, id, "someone", (0..=millis).map(|time| time % 2))
}

/// A profile with a sample of each of these stacks, 1 ms apart: 0 is `main`, 1 is `price`, which `main` calls.
fn profile_of(release: &str, id: &str, session: &str, stacks: impl Iterator<Item = u32>) -> Profile {
    let samples: Vec<String> = stacks
        .enumerate()
        .map(|(time, stack)| format!("{{\"timestamp\":{time},\"stackId\":{stack}}}"))
        .collect();
    let trace = format!(
        "{{\"resources\":[\"https://shop.example/app.js?v=1\"],\
         \"frames\":[{{\"name\":\"main\",\"resourceId\":0,\"line\":1,\"column\":1}},\
         {{\"name\":\"price\",\"resourceId\":0,\"line\":2,\"column\":1}}],\
         \"stacks\":[{{\"frameId\":0}},{{\"frameId\":1,\"parentId\":0}}],\"samples\":[{}]}}",
        samples.join(",")
    );
    let (trace, problems) = selfprof_formats::w3c::read(trace.as_bytes()).unwrap();
    assert!(problems.is_empty());
    let labels =
        Labels { app: "shop".into(), release: release.into(), page: "/cart".into(), ..Labels::default() };
    let sent = Sent { id: Some(id), session: Some(session), ..Sent::default() };
    Profile::new(NOON, labels, &sent, Vec::new(), CompactTrace::of(&trace)).unwrap()
}

fn options(folder: &Path) -> Options {
    let tables = Location::parse(folder.join("tables").to_str().unwrap(), HashMap::new()).unwrap();
    let limits = SegmentLimits { bytes: u64::MAX, age: Duration::from_secs(3_600), in_turn: false };
    let acknowledged = Acknowledged::InLog;
    Options { tables, log: folder.join("log"), limits, stacks_per_hour: STACKS_PER_HOUR, acknowledged }
}

async fn functions(folder: &Path, filter: &str) -> (u64, Vec<(String, String, i64, i64)>) {
    let reader = Reader::open(&options(folder).tables).await.unwrap();
    let filter: Filter = filter.parse().unwrap();
    let selection = Selection { app: "shop".into(), from: NOON, to: NOON + 1, filter };
    let sums = reader.stacks(&selection).await.unwrap();
    let rows = Functions::of(&sums).rows.into_iter();
    let rows = rows.map(|row| (row.function.name, row.function.file, row.self_time, row.total_time));
    (sums.profiles, rows.collect())
}

#[tokio::test]
async fn functions_have_the_times_of_their_samples() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(options(folder.path())).await.unwrap();
    let added = store.add(&[profile("1.3", "a", 9), profile("1.4", "b", 99)]).await.unwrap();
    assert_eq!(added, Added { new: 2, known: 0 });
    // The same profile again.
    assert_eq!(store.add(&[profile("1.4", "b", 99)]).await.unwrap(), Added { new: 0, known: 1 });
    store.close().await;
    let file = "https://shop.example/app.js";
    let row = |name: &str, own, total| (name.to_owned(), file.to_owned(), own, total);
    assert_eq!(
        functions(folder.path(), "").await,
        (2, vec![row("main", 55_000, 110_000), row("price", 55_000, 55_000)])
    );
    assert_eq!(
        functions(folder.path(), "release = '1.3'").await,
        (1, vec![row("main", 5_000, 10_000), row("price", 5_000, 5_000)])
    );
    assert_eq!(functions(folder.path(), "release = '1.5'").await, (0, vec![]));
}

#[tokio::test]
async fn a_function_that_only_calls_others_is_not_slower_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(options(folder.path())).await.unwrap();
    let sessions = (0..40_usize).map(|session| {
        let (release, millis) = if session % 2 == 0 { ("1.3", 20) } else { ("1.4", 60) };
        let name = session.to_string();
        profile_of(release, &name, &name, std::iter::repeat_n(1, millis + session))
    });
    store.add(&sessions.collect::<Vec<_>>()).await.unwrap();
    store.close().await;
    let reader = Reader::open(&options(folder.path()).tables).await.unwrap();
    let of = |release: &str| {
        let filter = format!("release = '{release}'").parse().unwrap();
        Selection { app: "shop".into(), from: NOON, to: NOON + 1, filter }
    };
    let comparison = reader.compare(&of("1.3"), &of("1.4"), Settings::default()).await.unwrap();
    let verdicts = comparison
        .functions
        .iter()
        .map(|row| (row.function.name.as_str(), row.self_time.verdict, row.total_time.verdict));
    let mut verdicts: Vec<_> = verdicts.filter(|(name, ..)| !name.starts_with('(')).collect();
    verdicts.sort_by_key(|(name, ..)| *name);
    assert_eq!(
        verdicts,
        [("main", Verdict::NoEvidence, Verdict::Slower), ("price", Verdict::Slower, Verdict::Slower)]
    );
}

#[tokio::test]
async fn an_application_has_a_limited_number_of_new_stacks_in_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let limits = SegmentLimits { bytes: 1, age: Duration::ZERO, in_turn: false };
    let store = Store::open(Options { stacks_per_hour: 1, limits, ..options(folder.path()) }).await.unwrap();
    let first = profile("1.3", "a", 9);
    let other = profile("1.4", "b", 9);
    let next_hour = Profile { time: NOON + 3_600_000_000, ..profile("1.3", "c", 9) };
    for profile in [first, other, next_hour] {
        store.add(&[profile]).await.unwrap();
    }
    while store.progress().profiles < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // All stacks of the second profile, which is of another release, and half of those of the first.
    assert_eq!(store.progress().without_stack, 15);
    store.close().await;
    let reader = Reader::open(&options(folder.path()).tables).await.unwrap();
    let of = async |from, to| {
        let selection = Selection { app: "shop".into(), from, to, filter: Filter::All };
        let rows = Functions::of(&reader.stacks(&selection).await.unwrap()).rows;
        rows.into_iter().map(|row| (row.function.name, row.self_time)).collect::<Vec<_>>()
    };
    let row = |name: &str, time| (name.to_owned(), time);
    assert_eq!(of(NOON, NOON + 1).await, [row("(too many stacks)", 15_000), row("main", 5_000)]);
    let next = NOON + 3_600_000_000;
    assert_eq!(of(next, next + 1).await, [row("main", 5_000), row("price", 5_000)]);
}

#[tokio::test]
async fn sums_of_hours_change_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let minute = 60_000_000;
    // The day begins at NOON - 12 hours; the last profiles are of the next day. Each profile differs from the others.
    for (log, numbers) in [("one", 0..40), ("two", 30..50)] {
        let options = Options { log: folder.path().join(log), ..options(folder.path()) };
        let store = Store::open(options).await.unwrap();
        let profiles = numbers.map(|number: i64| {
            let release = if number % 3 == 0 { "1.3" } else { "1.4" };
            let stacks = (0..number + 5).map(|sample| (sample % 7 == 0).into());
            let profile = profile_of(release, &number.to_string(), &number.to_string(), stacks);
            Profile { time: NOON + 17 * minute * number, ..profile }
        });
        store.add(&profiles.collect::<Vec<_>>()).await.unwrap();
        store.close().await;
    }
    let location = options(folder.path()).tables;
    let periods =
        [(0, 1_440), (0, 90), (30, 60), (30, 90), (59, 61), (60, 120), (45, 700), (100, 839), (5, 5)];
    let filters = ["", "release = '1.3'", "session = '7'", "marker = 'gc'", "page like '/c%'"];
    let answers = async || {
        let reader = Reader::open(&location).await.unwrap();
        let mut answers = Vec::new();
        for (from, to) in periods {
            for filter in filters {
                let (from, to) = (NOON + from * minute, NOON + to * minute);
                let selection = Selection { app: "shop".into(), from, to, filter: filter.parse().unwrap() };
                let sums = reader.stacks(&selection).await.unwrap();
                let series = reader.series(&selection, Step::Hour, 100).await.unwrap();
                answers.push((sums.profiles, Functions::of(&sums).rows, series));
            }
        }
        answers
    };
    let before = answers().await;
    assert_eq!(before[0].0, 50);
    assert!(before.iter().any(|(profiles, ..)| *profiles == 1));
    // No file is merged, so that each keeps its name.
    let limits = Limits { files: usize::MAX, summed: 0, ..Limits::default() };
    let mut upkeep =
        Upkeep::open(&location, UpkeepSettings { limits, ..UpkeepSettings::default() }).await.unwrap();
    for expected in [3, 0] {
        let report = upkeep.run(NOON).await;
        assert_eq!((report.summed, report.problems), (expected, Vec::new()));
    }
    assert_eq!(answers().await, before);
    // They are really used: on the second day, on which no profile is there twice, no sample is needed.
    for day in fs::read_dir(folder.path().join("tables/samples/app=shop")).unwrap() {
        for file in fs::read_dir(day.unwrap().path()).unwrap() {
            fs::write(file.unwrap().path(), "not Parquet").unwrap();
        }
    }
    let reader = Reader::open(&location).await.unwrap();
    let (from, to) = (NOON + 720 * minute, NOON + 1_440 * minute);
    let second_day = Selection { app: "shop".into(), from, to, filter: Filter::All };
    let sums = reader.stacks(&second_day).await.unwrap();
    assert_eq!((sums.profiles, Functions::of(&sums).samples), (7, (43..50).map(|number| number + 5).sum()));
    let series = reader.series(&second_day, Step::Day, 100).await.unwrap();
    assert_eq!(series.points.iter().map(|point| point.busy).sum::<i64>(), Functions::of(&sums).busy);
}

#[tokio::test]
async fn a_profile_that_two_collectors_wrote_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    for log in ["one", "two"] {
        let options = Options { log: folder.path().join(log), ..options(folder.path()) };
        let store = Store::open(options).await.unwrap();
        assert_eq!(store.add(&[profile("1.3", "a", 9)]).await.unwrap().new, 1);
        store.close().await;
    }
    let (profiles, rows) = functions(folder.path(), "").await;
    assert_eq!((profiles, rows[0].2), (1, 5_000));
}

#[tokio::test]
async fn what_a_lost_collector_did_not_finish_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let add = async |log: &str, id: &str| {
        let options = Options { log: folder.path().join(log), ..options(folder.path()) };
        let store = Store::open(options).await.unwrap();
        assert_eq!(store.add(&[profile("1.3", id, 9)]).await.unwrap().new, 1);
        store.close().await;
    };
    add("one", "a").await;
    add("lost", "b").await;
    // The collector was lost with its log before it wrote the profile, whose samples were there.
    fs::remove_file(folder.path().join("tables/profiles/_delta_log/00000000000000000002.json")).unwrap();
    let expected = (1, 5_000);
    let counted = async || {
        let (profiles, rows) = functions(folder.path(), "").await;
        (profiles, rows[0].2)
    };
    assert_eq!(counted().await, expected);
    let limits = Limits { files: 2, summed: 0, ..Limits::default() };
    let settings = UpkeepSettings { limits, quiet: Duration::ZERO, ..UpkeepSettings::default() };
    let mut upkeep = Upkeep::open(&options(folder.path()).tables, settings).await.unwrap();
    let day = 86_400_000_000;
    assert_eq!(upkeep.run(NOON + 400 * day).await.problems, []);
    assert_eq!(counted().await, expected);
    // Its page sends it again.
    add("three", "b").await;
    assert_eq!(counted().await, (2, 10_000));
    assert_eq!(upkeep.run(NOON + 401 * day).await.problems, []);
    assert_eq!(counted().await, (2, 10_000));
}

#[tokio::test]
async fn what_was_accepted_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(options(folder.path())).await.unwrap();
    store.add(&[profile("1.3", "a", 9)]).await.unwrap();
    // What is on the disk when the process ends here. That it ended is known to nobody.
    let log = folder.path().join("log after the crash");
    fs::create_dir(&log).unwrap();
    for file in fs::read_dir(folder.path().join("log")).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), log.join(file.file_name())).unwrap();
    }
    std::mem::forget(store);
    let store = Store::open(Options { log: log.clone(), ..options(folder.path()) }).await.unwrap();
    store.add(&[profile("1.3", "b", 9)]).await.unwrap();
    store.close().await;
    let (profiles, rows) = functions(folder.path(), "").await;
    assert_eq!((profiles, rows[0].2), (2, 10_000));
    let left: Vec<_> = fs::read_dir(log).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "writer" || name == "lock"), "{left:?}");
}

#[tokio::test]
async fn a_log_has_one_collector() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(options(folder.path())).await.unwrap();
    let error = Store::open(options(folder.path())).await.err().unwrap();
    assert!(error.to_string().contains("is in use by another collector"), "{error}");
    store.close().await;
    Store::open(options(folder.path())).await.unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_tables_is_in_them_and_shares_their_writes() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { acknowledged: Acknowledged::InTables, ..options(folder.path()) };
    let store = Arc::new(Store::open(options).await.unwrap());
    let senders = (0..20).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for round in 0..3 {
                let added = store.add(&[profile("1.4", &format!("{number}/{round}"), 9)]).await.unwrap();
                assert_eq!(added, Added { new: 1, known: 0 });
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    // The log is not needed any more, although the store is open.
    fs::remove_dir_all(folder.path().join("log")).unwrap();
    assert_eq!(functions(folder.path(), "").await.0, 60);
    let progress = store.progress();
    assert!(progress.segments <= 30, "{progress:?}");
}
