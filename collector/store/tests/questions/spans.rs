//! Durations of spans, and what runs in the slow ones.

use selfprof_store::query::functions::Functions;
use selfprof_store::query::slow_spans::SpanGroup;
use selfprof_store::query::spans::limits;

use crate::data::{Visit, selection, tables};

/// Functions and their self times in milliseconds.
fn functions(group: &SpanGroup) -> Vec<(String, i64)> {
    let rows = Functions::of(&group.sums).rows.into_iter().filter(|row| row.self_time > 0);
    rows.map(|row| (row.function.name, row.self_time / 1_000)).collect()
}

fn row(name: &str, time: i64) -> (String, i64) {
    (name.to_owned(), time)
}

#[tokio::test]
async fn each_span_counts_as_often_as_its_profile_stands_for() {
    let folder = tempfile::tempdir().unwrap();
    let visits = [
        Visit {
            id: "a",
            session: "x",
            samples: &["f"; 20],
            measures: &[("search", 0, 10), ("search", 50, 30), ("(odd", 0, 1)],
            ..Visit::default()
        },
        // Stands for ten visits.
        Visit {
            id: "b",
            session: "y",
            rate: 0.1,
            samples: &["f"; 20],
            measures: &[("search", 0, 20)],
            ..Visit::default()
        },
        Visit { id: "c", session: "y", release: "2", samples: &["g"; 20], ..Visit::default() },
    ];
    let reader = tables(folder.path(), &visits).await;
    let spans = reader.spans(&selection("")).await.unwrap();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["search", " (odd"]);
    let search = &spans[0];
    assert_eq!((search.spans, search.times, search.profiles, search.sessions), (3, 12.0, 2, 2));
    // 1 of 10 ms, 10 of 20 ms, 1 of 30 ms.
    assert_eq!(search.percentiles, [20_000, 20_000, 20_000, 30_000, 30_000]);
    assert_eq!(search.longest, 30_000);
    let part = |micros: i64| limits().filter(|&limit| limit <= micros).count();
    let counts = [(10_000, 1.0), (20_000, 10.0), (30_000, 1.0)];
    assert!(counts.iter().all(|&(duration, times)| search.distribution[part(duration)] == times));
    assert_eq!(search.distribution.iter().sum::<f64>(), 12.0);
    assert!(reader.spans(&selection("release = '2'")).await.unwrap().is_empty());
    // Of profiles that have such samples.
    let with = reader.spans(&selection("span = ' (odd'")).await.unwrap();
    assert_eq!((with[0].name.as_str(), with[0].spans), ("search", 2));
}

#[tokio::test]
async fn samples_belong_to_the_spans_that_cover_them() {
    let folder = tempfile::tempdir().unwrap();
    // Nine fast spans and a slow one, in two profiles.
    let fast: Vec<(&str, i64, i64)> = (0..9).map(|n| ("load", 20 * n + 5, 10)).collect();
    let visits = [
        Visit { id: "a", session: "x", samples: &["f"; 30], measures: &fast, ..Visit::default() },
        Visit {
            id: "b",
            session: "y",
            samples: &["f", "f", "g", "g", "", "f", "f"],
            // From the sample at 20 ms to that at 50 ms. The second span goes on after the recording.
            measures: &[("load", 15, 40), ("load", 50, 500)],
            ..Visit::default()
        },
    ];
    let reader = tables(folder.path(), &visits).await;
    // 11 spans: 9 of 10 ms, one of 40 ms, one of 500 ms.
    let both = reader.slow_spans(&selection(""), "load").await.unwrap().unwrap();
    assert_eq!((both.limit, both.profiles, both.read, both.cut), (40_000, 2, 2, 1));
    assert_eq!((both.slow.spans, both.slow.times, both.slow.duration), (1, 1.0, 40_000.0));
    assert_eq!(functions(&both.slow), [row("g", 20), row("f", 10)]);
    assert_eq!((both.rest.spans, both.rest.duration), (9, 90_000.0));
    assert_eq!(functions(&both.rest), [row("f", 90)]);
    assert_eq!((both.slow.sums.sessions, both.rest.sums.sessions), (1, 1));
    assert!(reader.slow_spans(&selection(""), "none").await.unwrap().is_none());
}

#[tokio::test]
async fn spans_of_one_length_are_all_slow() {
    let folder = tempfile::tempdir().unwrap();
    let visit = Visit {
        id: "a",
        session: "x",
        rate: 0.5,
        samples: &["f"; 10],
        // Two within each other: a sample in both counts for both.
        measures: &[("load", 15, 40), ("load", 20, 40)],
        ..Visit::default()
    };
    let reader = tables(folder.path(), &[visit]).await;
    let both = reader.slow_spans(&selection(""), "load").await.unwrap().unwrap();
    assert_eq!((both.slow.spans, both.slow.times, both.rest.spans), (2, 4.0, 0));
    // The samples at 20, 30, 40, 50 ms, and at 20 to 60 ms, each for two visits.
    assert_eq!(functions(&both.slow), [row("f", 180)]);
    assert!(functions(&both.rest).is_empty());
}
