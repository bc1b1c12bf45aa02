//! Profiles, and what is asked of them.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use selfprof_significance::Settings as Comparing;
use selfprof_store::filter::{Column, Filter};
use selfprof_store::log::SegmentLimits;
use selfprof_store::profile::{CompactTrace, Labels, Profile, Sent, Span, SpanKind};
use selfprof_store::query::flame_graph::FlameGraph;
use selfprof_store::query::functions::Functions;
use selfprof_store::query::{ProfileOrder, Reader, Selection};
use selfprof_store::tables::{self, Location, TableName};
use selfprof_store::upkeep::{Limits, Settings, Upkeep};
use selfprof_store::{Acknowledged, Options, STACKS_PER_HOUR, Store};

/// A day in microseconds.
pub const DAY: i64 = 86_400_000_000;

/// Now, in microseconds since 1970.
pub fn now() -> i64 {
    chrono::Utc::now().timestamp_micros()
}

/// Noon of today. What is written at this time is complete three days later.
pub fn noon() -> i64 {
    now().div_euclid(DAY) * DAY + DAY / 2
}

/// A profile of some functions. `number` decides which, and everything else.
pub fn profile(id: &str, release: &str, number: usize, time: i64) -> Profile {
    let samples: Vec<String> = (0..20 + number % 7)
        .map(|sample| format!("{{\"timestamp\":{},\"stackId\":{}}}", 10 * sample, (sample + number) % 4))
        .collect();
    let frames: Vec<String> = (0..4)
        .map(|frame| {
            format!(
                "{{\"name\":\"f{}\",\"resourceId\":0,\"line\":{},\"column\":1}}",
                frame,
                1 + frame + number % 3
            )
        })
        .collect();
    let trace = format!(
        "{{\"resources\":[\"https://shop.example/app.js\"],\"frames\":[{}],\
         \"stacks\":[{{\"frameId\":0}},{{\"frameId\":1,\"parentId\":0}},{{\"frameId\":2,\"parentId\":1}},{{\"frameId\":3}}],\
         \"samples\":[{}]}}",
        frames.join(","),
        samples.join(",")
    );
    let (trace, problems) = selfprof_formats::w3c::read(trace.as_bytes()).unwrap();
    assert!(problems.is_empty());
    let labels = Labels {
        app: "shop".into(),
        release: release.into(),
        page: ["/cart", "/product", "/"][number % 3].into(),
        browser: "Chrome 153".into(),
        ..Labels::default()
    };
    let session = format!("session {}", number % 5);
    let sent = Sent { id: Some(id), session: Some(&session), ..Sent::default() };
    let span = Span {
        kind: SpanKind::Measure,
        name: "checkout".into(),
        start: 10_000 * (number % 9) as i64,
        duration: 40_000,
    };
    Profile::new(time, labels, &sent, vec![span], CompactTrace::of(&trace)).unwrap()
}

/// A collector, each of whose requests becomes a file of each table.
pub async fn collector(folder: &Path, name: &str) -> Store {
    let limits = SegmentLimits { bytes: 1, age: Duration::from_secs(3_600), in_turn: false };
    Store::open(Options {
        tables: location(folder),
        log: folder.join(name),
        limits,
        stacks_per_hour: STACKS_PER_HOUR,
        acknowledged: Acknowledged::InLog,
    })
    .await
    .unwrap()
}

pub fn location(folder: &Path) -> Location {
    Location::parse(folder.join("tables").to_str().unwrap(), HashMap::new()).unwrap()
}

/// Upkeep that merges three files of a size, and waits for nothing.
pub fn settings() -> Settings {
    Settings {
        limits: Limits { files: 3, summed: 0, ..Limits::default() },
        quiet: Duration::ZERO,
        keep_unnamed: Duration::ZERO,
        ..Settings::default()
    }
}

pub async fn upkeep(folder: &Path) -> Upkeep {
    Upkeep::open(&location(folder), settings()).await.unwrap()
}

/// What is asked for in a period.
pub fn selection(from: i64, to: i64, condition: &str) -> Selection {
    let filter: Filter = condition.parse().unwrap();
    Selection { app: "shop".into(), from, to, filter }
}

/// The answers to many questions.
pub async fn answers(reader: &Reader, conditions: &[&str]) -> String {
    let mut answers = String::new();
    let periods = [(noon() - 20 * DAY, noon() + DAY), (noon() - DAY, noon() - DAY / 2)];
    for (from, to) in periods {
        for condition in conditions {
            let asked = selection(from, to, condition);
            answers.push_str(&functions(reader, &asked).await);
            for profile in reader.profiles(&asked, ProfileOrder::Newest, 1_000).await.unwrap().iter().take(2)
            {
                answers.push_str(&format!("{:?}\n", reader.trace(&asked, profile.id).await.unwrap()));
            }
            let base = selection(from, to, "page = '/cart'");
            let compared = reader.compare(&base, &asked, Comparing::default()).await.unwrap();
            for row in &compared.functions {
                let (own, total) = (&row.self_time, &row.total_time);
                answers.push_str(&format!(
                    "{:?} {} {} {:?} {:?}\n",
                    row.function, own.difference_us, total.difference_us, own.base, total.new
                ));
            }
        }
        for column in [Column::Release, Column::Page, Column::Span] {
            let values = reader.values(&selection(from, to, ""), column).await.unwrap();
            answers.push_str(&format!("{values:?}\n"));
        }
    }
    answers
}

/// The functions of a selection, its flame graph, and its profiles.
pub async fn functions(reader: &Reader, asked: &Selection) -> String {
    let sums = reader.stacks(asked).await.unwrap();
    let profiles = reader.profiles(asked, ProfileOrder::Newest, 1_000).await.unwrap();
    let rows: Vec<_> = sums.rows.iter().map(|row| (row.weight, row.count)).collect();
    format!(
        "{} {} {rows:?}\n{:?}\n{:?}\n{profiles:?}\n",
        sums.profiles,
        sums.sessions,
        Functions::of(&sums),
        FlameGraph::of(&sums)
    )
}

/// The files of each table, and their rows.
pub async fn contents(folder: &Path) -> HashMap<TableName, (usize, u64)> {
    let mut contents = HashMap::new();
    for mut table in tables::open(&location(folder)).await.unwrap() {
        let files: Vec<_> = table.partitions().await.unwrap().into_values().flatten().collect();
        contents.insert(table.name(), (files.len(), files.iter().map(|file| file.rows).sum()));
    }
    contents
}

/// The files on the disk that are in the folders of days.
pub fn files_on_disk(folder: &Path) -> usize {
    let count = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| !path.ends_with("_delta_log")).collect::<Vec<_>>()
    };
    let tables = TableName::ALL.map(|name| folder.join("tables").join(name.as_str()));
    tables
        .iter()
        .flat_map(|table| count(table))
        .flat_map(|app| count(&app))
        .flat_map(|day| count(&day))
        .count()
}

/// Two texts are the same, line by line.
#[track_caller]
pub fn same(answers: &str, expected: &str) {
    for (line, expected) in answers.lines().zip(expected.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(answers.lines().count(), expected.lines().count());
}
