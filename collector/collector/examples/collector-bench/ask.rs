//! Questions to tables.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use selfprof_store::filter::Filter;
use selfprof_store::query::flame_graph::FlameGraph;
use selfprof_store::query::functions::Functions;
use selfprof_store::query::series::Step;
use selfprof_store::query::{Reader, Selection};
use selfprof_store::tables::Location;
use selfprof_store::upkeep::{Settings, Upkeep};
use serde_json::{Value, json};

use crate::fill::{DAY, FIRST};

/// Functions of a series.
const FUNCTIONS: usize = 50;

/// Asks each question several times, by turns. Times are in milliseconds.
pub async fn ask(data: &str, rounds: usize) -> Result<Value> {
    let location = Location::parse(data, HashMap::new())?;
    let reader = Reader::open(&location).await?;
    let selection =
        |filter: Filter| Selection { app: "shop".into(), from: FIRST, to: FIRST + 30 * DAY, filter };
    let all = selection(Filter::All);
    let release =
        |release: &str| -> Result<Selection> { Ok(selection(format!("release = '{release}'").parse()?)) };
    let (base, new) = (release("1.3")?, release("1.4")?);
    let mut times: HashMap<&str, Vec<f64>> = HashMap::new();
    let mut samples = 0;
    for _ in 0..rounds {
        let mut time = |name, start: Instant| {
            times.entry(name).or_default().push(start.elapsed().as_secs_f64() * 1_000.0);
        };
        let start = Instant::now();
        let sums = reader.stacks(&all).await?;
        samples = Functions::of(&sums).samples;
        time("functions", start);
        // It has nothing in memory.
        let other = Reader::open(&location).await?;
        let start = Instant::now();
        Functions::of(&other.stacks(&all).await?);
        time("functions, first", start);
        let start = Instant::now();
        FlameGraph::of(&reader.stacks(&base).await?);
        time("flame graph of a release", start);
        let start = Instant::now();
        reader.series(&all, Step::Day, FUNCTIONS).await?;
        time("series", start);
        let start = Instant::now();
        reader.compare(&base, &new, Default::default()).await?;
        time("comparison", start);
    }
    Ok(json!({ "samples": samples, "times": times }))
}

/// Scans the columns of the samples that sums need, with the engine alone. Times are in milliseconds.
pub async fn scan(data: &str, rounds: usize) -> Result<Value> {
    let context = SessionContext::new();
    let options = ParquetReadOptions::default();
    context.register_parquet("samples", &format!("{data}/samples/"), options).await?;
    let mut times: HashMap<&str, Vec<f64>> = HashMap::new();
    for _ in 0..rounds {
        for (name, sql) in [
            ("scan", "select count(stack), count(marker), sum(weight), sum(\"count\") from samples"),
            ("sums", "select stack, marker, sum(weight), sum(\"count\") from samples group by stack, marker"),
            (
                "sums with time",
                "select stack, marker, sum(weight), sum(\"count\") from samples where time >= to_timestamp_micros(1) group by stack, marker",
            ),
        ] {
            let start = Instant::now();
            context.sql(sql).await?.collect().await?;
            times.entry(name).or_default().push(start.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    Ok(json!({ "times": times }))
}

/// Merges files and adds up hours, as if no more profiles came.
pub async fn upkeep(data: &str) -> Result<Value> {
    let location = Location::parse(data, HashMap::new())?;
    let start = Instant::now();
    let settings = Settings { quiet: Duration::ZERO, keep_merged: Duration::ZERO, ..Settings::default() };
    let mut upkeep = Upkeep::open(&location, settings).await?;
    // All days are over.
    let report = upkeep.run(FIRST + 365 * DAY).await;
    // The files that were merged are deleted in the next run.
    let next = upkeep.run(FIRST + 366 * DAY).await;
    ensure!(report.problems.is_empty() && next.problems.is_empty(), "{report:?} {next:?}");
    let (before, after) = (report.merged, report.written);
    Ok(json!({
        "files": [before.files, after.files],
        "bytes": [before.bytes, after.bytes],
        "seconds": start.elapsed().as_secs_f64(),
    }))
}
