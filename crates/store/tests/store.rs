//! Profiles go in, and the times of their functions come out.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use selfprof_store::filter::Filter;
use selfprof_store::log::SegmentLimits;
use selfprof_store::profile::{CompactTrace, Labels, Profile, Sent};
use selfprof_store::query::functions::Functions;
use selfprof_store::query::{Reader, Selection};
use selfprof_store::tables::Location;
use selfprof_store::{Added, Options, Store};

/// 2026-11-23 in microseconds.
const NOON: i64 = 1_795_435_200_000_000;

fn profile(release: &str, id: &str, millis: u32) -> Profile {
    let samples: Vec<String> =
        (0..=millis).map(|time| format!("{{\"timestamp\":{time},\"stackId\":{}}}", time % 2)).collect();
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
    let sent = Sent { id: Some(id), session: Some("someone"), ..Sent::default() };
    Profile::new(NOON, labels, &sent, Vec::new(), CompactTrace::of(&trace)).unwrap()
}

fn options(folder: &Path) -> Options {
    let tables = Location::parse(folder.join("tables").to_str().unwrap(), HashMap::new()).unwrap();
    let limits = SegmentLimits { bytes: u64::MAX, age: Duration::from_secs(3_600) };
    Options { tables, log: folder.join("log"), limits }
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
