//! The tables' logs stay short.

use std::fs;
use std::path::Path;
use std::time::Duration;

use selfprof_store::query::Reader;
use selfprof_store::tables::TableName;
use selfprof_store::upkeep::{Settings, Upkeep};

use crate::store::{
    DAY, collector, contents, files_on_disk, location, noon, now, profile, selection, settings,
};

fn entries(folder: &Path) -> usize {
    let log = folder.join("tables/samples/_delta_log");
    let names = fs::read_dir(log).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".json")).count()
}

#[tokio::test]
async fn a_log_is_summed_up_and_its_old_entries_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    // Opened before, and not used until the log has been summed up twice.
    let asked_late = Reader::open(&location(folder.path())).await.unwrap();
    let idle = collector(folder.path(), "idle").await;
    idle.add(&[profile("idle", "1.4", 1, noon())]).await.unwrap();
    idle.flush().await.unwrap();
    let all = selection(noon() - DAY, noon() + DAY, "");
    let settings = Settings { keep_log: Duration::ZERO, checkpoint: 30, ..settings() };
    let mut upkeep = Upkeep::open(&location(folder.path()), settings.clone()).await.unwrap();
    let store = collector(folder.path(), "one").await;
    for part in 0..3 {
        for number in 0..40 {
            let id = format!("{part} {number}");
            store.add(&[profile(&id, "1.4", number, noon())]).await.unwrap();
        }
        store.flush().await.unwrap();
        assert_eq!(upkeep.run(now() + DAY / 24).await.problems, []);
        assert!(entries(folder.path()) < 20, "{} entries", entries(folder.path()));
        assert_eq!(reader.stacks(&all).await.unwrap().profiles, 40 * (part + 1) + 1);
    }
    assert_eq!(asked_late.stacks(&all).await.unwrap().profiles, 121);
    // The log still knows what each collector has written.
    idle.add(&[profile("idle again", "1.4", 1, noon())]).await.unwrap();
    idle.close().await;
    store.close().await;
    let store = collector(folder.path(), "one").await;
    store.add(&[profile("after a restart", "1.4", 1, noon())]).await.unwrap();
    store.close().await;
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    assert_eq!(reader.stacks(&all).await.unwrap().profiles, 123);
    // What was removed is still known, and deleted.
    let mut upkeep = Upkeep::open(&location(folder.path()), settings).await.unwrap();
    assert_eq!(upkeep.run(now() + 3 * DAY).await.problems, []);
    let report = upkeep.run(now() + 4 * DAY).await;
    assert_eq!(report.problems, []);
    assert!(report.deleted > 0, "{report:?}");
    assert_eq!(files_on_disk(folder.path()), 6);
    assert_eq!(contents(folder.path()).await[&TableName::Samples].0, 1);
    assert_eq!(reader.stacks(&all).await.unwrap().profiles, 123);
}
