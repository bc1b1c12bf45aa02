//! Questions by the labels of samples.

use selfprof_store::query::ProfileOrder;
use selfprof_store::query::functions::Functions;

use crate::data::{Visit, selection, tables};

#[tokio::test]
async fn samples_are_found_by_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let visits = [
        Visit {
            id: "a",
            session: "s",
            samples: &["first", "first", "second", "second", "second", "first"],
            tenants: &[(1, "acme"), (4, "other")],
            ..Visit::default()
        },
        Visit { id: "b", session: "t", samples: &["first", "second", "second"], ..Visit::default() },
    ];
    let reader = tables(folder.path(), &visits).await;
    let ask = async |filter: &str| {
        let sums = reader.stacks(&selection(filter)).await.unwrap();
        let mut rows: Vec<String> = Functions::of(&sums)
            .rows
            .iter()
            .filter(|row| row.self_samples > 0)
            .map(|row| format!("{} {}", row.function.name, row.self_samples))
            .collect();
        rows.sort_unstable();
        rows.join(", ")
    };
    assert_eq!(ask("label.tenant = 'acme'").await, "first 1, second 2");
    assert_eq!(ask("label.tenant in ('acme', 'other')").await, "first 2, second 3");
    assert_eq!(ask("label.tenant != 'acme' and session = 's'").await, "first 2, second 1");
    // Of a single request.
    assert_eq!(ask("label.trace_id = 'a'").await, "");
    let rows = reader.profiles(&selection("session = 's'"), ProfileOrder::Newest, 1).await.unwrap();
    let trace = reader.trace(&selection(""), rows[0].id).await.unwrap().unwrap();
    let sets: Vec<_> = trace.labels().unwrap().sets().map(|set| set.get("trace_id")).collect();
    assert_eq!(sets, [Some("a"), Some("a")]);
}
