//! Single profiles.

use selfprof_store::query::ProfileOrder;

use crate::data::{DAY, Visit, selection, tables};

#[tokio::test]
async fn profiles_are_in_the_order_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let visit = |session: &'static str, time, samples| Visit {
        id: session,
        session,
        time: DAY + time,
        rate: 0.25,
        samples,
        measures: &[("load", 5, 10)],
        ..Visit::default()
    };
    // The length of a visit does not depend on how many it stands for.
    let visits = [
        visit("1", 4, &["f"; 10]),
        visit("2", 3, &["f"; 20]),
        visit("3", 2, &["f"; 30]),
        visit("4", 1, &["", "f", "f", "", ""]),
        Visit { id: "5", session: "5", time: DAY, samples: &["", ""], ..Visit::default() },
    ];
    let reader = tables(folder.path(), &visits).await;
    let ask = async |filter: &str, order, top| {
        let rows = reader.profiles(&selection(filter), order, top).await.unwrap();
        rows.iter().map(|row| (row.time - DAY, row.busy / 1_000)).collect::<Vec<_>>()
    };
    assert_eq!(ask("", ProfileOrder::Newest, 2).await, [(4, 100), (3, 200)]);
    assert_eq!(ask("", ProfileOrder::Longest, 9).await, [(2, 300), (3, 200), (4, 100), (1, 20), (0, 0)]);
    assert_eq!(ask("", ProfileOrder::Median, 1).await, [(4, 100)]);
    let mut around = ask("", ProfileOrder::Median, 3).await;
    around.sort_unstable();
    assert_eq!(around, [(1, 20), (3, 200), (4, 100)]);
    // The samples at 10 ms only.
    assert_eq!(ask("span = 'load'", ProfileOrder::Newest, 9).await, [(4, 10), (3, 10), (2, 10), (1, 10)]);
    assert!(ask("release = '9'", ProfileOrder::Median, 9).await.is_empty());
}
