//! Times over a period.

use selfprof_store::query::series::{Point, Step};

use crate::data::{DAY, Visit, selection, tables};

const HOUR: i64 = 3_600_000_000;

#[tokio::test]
async fn each_part_of_the_period_has_its_own_sums() {
    let folder = tempfile::tempdir().unwrap();
    let visits = [
        Visit { id: "a", session: "x", time: DAY, samples: &["f", "f", "g"], ..Visit::default() },
        Visit { id: "b", session: "x", time: DAY + HOUR - 1, samples: &["f", "f"], ..Visit::default() },
        // The same session an hour later.
        Visit { id: "c", session: "x", time: DAY + HOUR, samples: &["g", ""], ..Visit::default() },
        Visit {
            id: "d",
            session: "y",
            time: DAY + 49 * HOUR,
            rate: 0.5,
            samples: &["f"; 4],
            ..Visit::default()
        },
    ];
    let reader = tables(folder.path(), &visits).await;
    let days = reader.series(&selection(""), Step::Day, 10).await.unwrap();
    let point =
        |day: i64, profiles, sessions, busy| Point { time: DAY + day * 24 * HOUR, profiles, sessions, busy };
    assert_eq!(days.points, [point(0, 3, 1, 60_000), point(1, 0, 0, 0), point(2, 1, 1, 80_000)]);
    assert_eq!((days.profiles, days.sessions), (4, 2));
    let rows: Vec<_> = days
        .functions
        .iter()
        .map(|row| (row.function.name.as_str(), row.self_times.clone(), row.total_times.clone()))
        .collect();
    assert_eq!(
        rows,
        [
            ("f", vec![40_000, 0, 80_000], vec![40_000, 0, 80_000]),
            ("g", vec![20_000, 0, 0], vec![20_000, 0, 0]),
            ("main", vec![0, 0, 0], vec![60_000, 0, 80_000]),
        ]
    );
    let hours = reader.series(&selection("release = '1'"), Step::Hour, 1).await.unwrap();
    assert_eq!((hours.points.len(), hours.functions.len()), (72, 1));
    assert_eq!(hours.functions[0].self_times[..3], [40_000, 0, 0]);
    assert_eq!((hours.points[1].sessions, hours.points[49].busy), (1, 80_000));
    let none = reader.series(&selection("release = '2'"), Step::Day, 10).await.unwrap();
    assert!(none.functions.is_empty() && none.points.iter().all(|point| point.sessions == 0));
}
