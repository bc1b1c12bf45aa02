//! Days and sessions are deleted.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use selfprof_store::Added;
use selfprof_store::maps::Maps;
use selfprof_store::query::Reader;
use selfprof_store::tables::TableName;
use selfprof_store::upkeep::{Retention, Settings, Upkeep};

use crate::store::{
    DAY, collector, contents, files_on_disk, functions, location, noon, now, profile, same, selection,
    settings,
};

const EMPTY_MAP: &[u8] = br#"{"version":3,"sources":[],"names":[],"mappings":""}"#;

fn days(days: u32) -> Duration {
    Duration::from_secs(86_400) * days
}

#[tokio::test]
async fn days_that_are_too_old_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = collector(folder.path(), "one").await;
    // No profile is of today, so that it does not matter which time of the day it is.
    let last = noon() + DAY;
    for number in 0..5 {
        let release = if number > 2 { "1.3" } else { "1.4" };
        let time = last - number as i64 * 2 * DAY;
        store.add(&[profile(&number.to_string(), release, number, time)]).await.unwrap();
    }
    store.close().await;
    let maps = Maps::open(&location(folder.path())).unwrap();
    for release in ["1.3", "1.4", "soon"] {
        maps.put("shop", release, "app.js", EMPTY_MAP).await.unwrap();
    }
    let left = async |settings: Settings, at: i64| {
        let mut upkeep = Upkeep::open(&location(folder.path()), settings).await.unwrap();
        let report = upkeep.run(at).await;
        assert_eq!(report.problems, []);
        let days = contents(folder.path()).await[&TableName::Profiles].1;
        (report.days, report.maps, days)
    };
    assert_eq!(left(settings(), noon()).await, (0, 0, 5), "all is kept");
    let keep = |all: Option<Duration>, shop: Option<Duration>| {
        let apps = shop.map(|keep| ("shop".to_owned(), keep)).into_iter().collect();
        Settings { retention: Retention { all, apps }, ..settings() }
    };
    assert_eq!(left(keep(Some(days(1)), Some(days(8))), last).await, (0, 0, 5));
    assert_eq!(left(keep(Some(days(30)), Some(days(4))), last).await, (2, 0, 3), "four days and a half");
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    let all = selection(last - 9 * DAY, last + DAY, "");
    assert_eq!(reader.stacks(&all).await.unwrap().profiles, 3);
    for (name, (files, _)) in contents(folder.path()).await {
        assert_eq!(files, 3, "{name:?}");
    }
    // Later, the maps are old, too. One is of a release that still has profiles.
    let later = keep(None, Some(days(4)));
    let at = now() + 4 * DAY + DAY / 10;
    assert_eq!(left(later.clone(), at).await, (2, 2, 1));
    assert!(!maps.of_release("shop", "1.4").await.unwrap().is_empty());
    assert!(maps.of_release("shop", "1.3").await.unwrap().is_empty());
    // The files are deleted, and the folders of the days.
    Upkeep::open(&location(folder.path()), later).await.unwrap().run(at + DAY / 10).await;
    assert_eq!(files_on_disk(folder.path()), 6);
    assert_eq!(fs::read_dir(folder.path().join("tables/samples/app=shop")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_session_is_deleted_from_all_tables() {
    let folder = tempfile::tempdir().unwrap();
    let store = collector(folder.path(), "one").await;
    let one = |number: usize| profile(&number.to_string(), "1.4", number, noon() - (number as i64 % 2) * DAY);
    for number in 0..15 {
        store.add(&[one(number)]).await.unwrap();
    }
    store.flush().await.unwrap();
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    let (from, to) = (noon() - 3 * DAY, noon() + DAY);
    let of = |number: usize| selection(from, to, &format!("session = 'session {number}'"));
    let others = selection(from, to, "session != 'session 3'");
    let before = functions(&reader, &others).await;
    assert_eq!(reader.stacks(&of(3)).await.unwrap().profiles, 3);
    let mut upkeep = Upkeep::open(&location(folder.path()), settings()).await.unwrap();
    // Files of which some are merged already.
    upkeep.run(noon() - DAY).await;
    let rows = contents(folder.path()).await;
    let deleted = upkeep.delete_session("shop", "session 3").await.unwrap();
    let mut expected: Vec<_> = [3, 8, 13].map(|number| one(number).id).to_vec();
    expected.sort_unstable();
    assert_eq!(deleted.profiles, expected);
    same(&functions(&reader, &others).await, &before);
    assert_eq!(reader.stacks(&of(3)).await.unwrap().profiles, 0);
    assert_eq!(reader.stacks(&of(3)).await.unwrap().rows, []);
    let left = contents(folder.path()).await;
    assert_eq!(rows[&TableName::Profiles].1 - left[&TableName::Profiles].1, 3);
    assert_eq!(rows[&TableName::Spans].1 - left[&TableName::Spans].1, 3);
    assert_eq!(upkeep.delete_session("shop", "session 3").await.unwrap().profiles, []);
    assert_eq!(upkeep.delete_session("other", "session 4").await.unwrap().profiles, []);
    // A short time later, no file on the disk has its rows: neither those that were replaced now, nor those that were
    // merged before.
    let on_disk = files_on_disk(folder.path());
    upkeep.run(now() + 4 * 60_000_000).await;
    assert_eq!(files_on_disk(folder.path()), on_disk);
    upkeep.run(now() + 6 * 60_000_000).await;
    let needed: usize = contents(folder.path()).await.values().map(|(files, _)| files).sum();
    let tables: HashMap<_, _> = contents(folder.path()).await;
    // Stacks and frames say nothing of sessions.
    let waiting = [TableName::Stacks, TableName::Frames];
    for name in TableName::ALL.into_iter().filter(|name| !waiting.contains(name)) {
        let table = folder.path().join("tables").join(name.as_str()).join("app=shop");
        let files: usize =
            fs::read_dir(table).unwrap().map(|day| fs::read_dir(day.unwrap().path()).unwrap().count()).sum();
        assert_eq!(files, tables[&name].0, "{name:?}");
    }
    assert!(files_on_disk(folder.path()) >= needed);
    // What is sent again is new.
    assert_eq!(store.add(&[one(3), one(4)]).await.unwrap(), Added { new: 0, known: 2 });
    store.forget(&deleted.profiles);
    assert_eq!(store.add(&[one(3), one(4)]).await.unwrap(), Added { new: 1, known: 1 });
    store.flush().await.unwrap();
    assert_eq!(reader.stacks(&of(3)).await.unwrap().profiles, 1);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_deleted_while_others_merge_and_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = collector(folder.path(), "one").await;
    for number in 0..20 {
        store.add(&[profile(&number.to_string(), "1.4", number, noon())]).await.unwrap();
    }
    store.flush().await.unwrap();
    let mut merging = Upkeep::open(&location(folder.path()), settings()).await.unwrap();
    let mut deleting = Upkeep::open(&location(folder.path()), settings()).await.unwrap();
    let writing = async {
        for number in 0..10 {
            store.add(&[profile(&format!("later {number}"), "1.4", 5 * number, noon())]).await.unwrap();
        }
        store.flush().await.unwrap();
    };
    let merging = async {
        for _ in 0..5 {
            assert_eq!(merging.run(noon() - DAY).await.problems, []);
        }
    };
    let (deleted, (), ()) = tokio::join!(deleting.delete_session("shop", "session 3"), merging, writing);
    assert_eq!(deleted.unwrap().profiles.len(), 4);
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    let sums = reader.stacks(&selection(noon() - DAY, noon() + DAY, "")).await.unwrap();
    assert_eq!(sums.profiles, 26);
    let rows = contents(folder.path()).await;
    assert_eq!((rows[&TableName::Profiles].1, rows[&TableName::Spans].1), (26, 26));
    store.close().await;
}
