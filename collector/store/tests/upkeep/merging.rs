//! Merged files answer as the small ones did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use selfprof_store::query::Reader;
use selfprof_store::tables::TableName;
use selfprof_store::upkeep::{Report, Step};

use crate::store::{
    DAY, answers, collector, contents, files_on_disk, functions, location, noon, now, profile, same,
    selection, upkeep,
};

const CONDITIONS: [&str; 2] = ["", "release = '1.4' and span = 'checkout'"];

/// Writes profiles of two days by two collectors, some of them by both.
async fn fill(folder: &std::path::Path) {
    for name in ["one", "two"] {
        let store = collector(folder, name).await;
        for number in 0..12 {
            let (id, release) = (number.to_string(), if number % 2 == 0 { "1.3" } else { "1.4" });
            let day = if number < 9 { 0 } else { DAY };
            let own = format!("{name} {number}");
            // The same id with another content.
            let other = if name == "one" { number } else { number + 1 };
            store
                .add(&[
                    profile(&id, release, other, noon() - day),
                    profile(&own, release, number, noon() - day),
                ])
                .await
                .unwrap();
        }
        store.close().await;
    }
    // On two days.
    let store = collector(folder, "late").await;
    store.add(&[profile("0", "1.3", 5, noon() - DAY)]).await.unwrap();
    store.close().await;
}

fn no_problems(report: &Report) {
    assert_eq!(report.problems, []);
}

#[tokio::test]
async fn merging_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path()).await;
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    let before = answers(&reader, &CONDITIONS).await;
    let rows = contents(folder.path()).await;
    assert_eq!(rows[&TableName::Profiles].0, 25);
    let mut upkeep = upkeep(folder.path()).await;
    // More may come today, and the day before may not be over.
    let report = upkeep.run(noon() - DAY).await;
    no_problems(&report);
    assert!(report.merged.files > 2 * report.written.files && report.written.files > 0, "{report:?}");
    same(&answers(&reader, &CONDITIONS).await, &before);
    let merged = contents(folder.path()).await;
    assert_eq!(merged[&TableName::Samples].1, rows[&TableName::Samples].1);
    assert!(merged[&TableName::Stacks].1 < rows[&TableName::Stacks].1, "equal rows are kept once");
    // Nothing is left to do, and the old files are still there for those who read them.
    assert_eq!(upkeep.run(noon() - DAY).await, Report::default());
    same(&answers(&reader, &CONDITIONS).await, &before);
    let on_disk = files_on_disk(folder.path());
    // Both days are over.
    let report = upkeep.run(now() + 3 * DAY).await;
    no_problems(&report);
    assert!(report.deleted > 0);
    let merged = contents(folder.path()).await;
    for name in TableName::ALL {
        assert_eq!(merged[&name].0, 2, "one file a day of {name:?}");
    }
    // 12 profiles were written by both collectors on the same day.
    assert_eq!(rows[&TableName::Profiles].1 - merged[&TableName::Profiles].1, 12);
    assert_eq!(rows[&TableName::Spans].1 - merged[&TableName::Spans].1, 12);
    assert!(merged[&TableName::Samples].1 < rows[&TableName::Samples].1);
    same(&answers(&reader, &CONDITIONS).await, &before);
    let other = Reader::open(&location(folder.path())).await.unwrap();
    same(&answers(&other, &CONDITIONS).await, &before);
    // The files of the repeated profiles follow.
    upkeep.run(now() + 4 * DAY).await;
    assert!(files_on_disk(folder.path()) < on_disk);
    assert_eq!(files_on_disk(folder.path()), 12);
    same(&answers(&reader, &CONDITIONS).await, &before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_and_writers_go_on_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path()).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (path, stopped) = (folder.path().to_owned(), Arc::clone(&stop));
    let writer = tokio::spawn(async move {
        let store = collector(&path, "three").await;
        let mut number = 0;
        while !stopped.load(Ordering::Relaxed) && number < 60 {
            number += 1;
            store.add(&[profile(&format!("later {number}"), "2.0", number, noon())]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        store.close().await;
        number
    });
    let (path, stopped) = (folder.path().to_owned(), Arc::clone(&stop));
    let asker = tokio::spawn(async move {
        let reader = Reader::open(&location(&path)).await.unwrap();
        // What does not change, while other profiles come.
        let selection = selection(noon() - 3 * DAY, noon() + DAY, "release = '1.3'");
        let before = functions(&reader, &selection).await;
        let mut asked = 0;
        while !stopped.load(Ordering::Relaxed) {
            same(&functions(&reader, &selection).await, &before);
            asked += 1;
        }
        asked
    });
    // Two collectors merge the same files.
    let (mut one, mut two) = (upkeep(folder.path()).await, upkeep(folder.path()).await);
    let mut merged = 0;
    for _ in 0..8 {
        let (a, b) = tokio::join!(one.run(noon() - DAY), two.run(noon() - DAY));
        no_problems(&a);
        no_problems(&b);
        merged += a.merged.files + b.merged.files;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stop.store(true, Ordering::Relaxed);
    let (written, asked) = (writer.await.unwrap(), asker.await.unwrap());
    assert!(merged > 30 && asked > 0, "{merged} files were merged, {asked} questions asked");
    let last = now() + 3 * DAY;
    let (a, b) = tokio::join!(one.run(last), two.run(last));
    no_problems(&a);
    no_problems(&b);
    let rows = contents(folder.path()).await;
    assert_eq!(rows[&TableName::Profiles].1, 49 - 12 + written as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_may_end_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path()).await;
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    let all = selection(noon() - 3 * DAY, noon() + DAY, "");
    let before = functions(&reader, &all).await;
    let mut time = Duration::from_millis(2);
    loop {
        let mut upkeep = upkeep(folder.path()).await;
        time += time / 4;
        let ended = tokio::time::timeout(time, upkeep.run(now() + 3 * DAY)).await;
        same(&functions(&reader, &all).await, &before);
        if ended.is_ok_and(|report| report.merged.files == 0) {
            break;
        }
    }
    // What was left over has been deleted.
    upkeep(folder.path()).await.run(now() + 5 * DAY).await;
    assert_eq!(files_on_disk(folder.path()), 12);
    same(&functions(&reader, &all).await, &before);
}

#[tokio::test]
async fn a_missing_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path()).await;
    let mut table = selfprof_store::tables::open(&location(folder.path())).await.unwrap().remove(3);
    assert_eq!(table.name(), TableName::Samples);
    let file = table.partitions().await.unwrap().pop_last().unwrap().1.remove(0);
    std::fs::remove_file(folder.path().join("tables/samples").join(&file.path)).unwrap();
    let reader = Reader::open(&location(folder.path())).await.unwrap();
    let selection = selection(noon() - 3 * DAY, noon() + DAY, "");
    let error = reader.stacks(&selection).await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!("the file {} of the table samples is missing: restore it from a back-up", file.path)
    );
    // Nothing is merged without it, and other tables are.
    let report = upkeep(folder.path()).await.run(now() + 3 * DAY).await;
    let steps: Vec<Step> = report.problems.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [Step::Merging, Step::Hours], "{report:?}");
    assert!(report.problems.iter().all(|(_, problem)| problem.contains(&file.path)));
}
