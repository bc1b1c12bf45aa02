//! A billion samples an hour, as the sums that the upkeep makes of them.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, TimestampMicrosecondArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use selfprof_store::filter::Filter;
use selfprof_store::query::functions::Functions;
use selfprof_store::query::{Reader, Selection};
use selfprof_store::tables::{Change, DataFile, Location, NewFile, Partition, Table, TableName, day_of};
use serde_json::{Value, json};

use crate::fill::{DAY, FIRST, fill};

/// Samples in an hour.
const SAMPLES: i64 = 1_000_000_000;

/// Files of samples in an hour: each has at most 16,777,216 rows, and a profile of 300 samples has 12 rows.
const FILES: i64 = 3;

/// Profiles whose sums the hours are made of.
const PROFILES: usize = 20_000;

const HOUR: i64 = DAY / 24;

/// A generator of numbers with a seed, by Marsaglia.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number around `mean`, at most a tenth away.
    fn around(&mut self, mean: f64) -> i64 {
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (mean * (0.9 + 0.2 * part)).round() as i64
    }
}

/// Writes the sums of some hours, each of a billion samples, and asks for the functions of the last hour, the last day
/// and all of them.
pub async fn simulate(data: &str, fixtures: &Path, hours: i64) -> Result<Value> {
    // Their stacks, and the combinations of labels and stacks that there are.
    fill(data, fixtures, PROFILES, 1).await?;
    super::ask::upkeep(data).await?;
    let location = Location::parse(data, HashMap::new())?;
    let base = sums(data).await?;
    let counts = base.column_by_name("count").context("a column")?.as_primitive::<Int64Type>().clone();
    let weights = base.column_by_name("weight").context("a column")?.as_primitive::<Int64Type>().clone();
    let scale = SAMPLES as f64 / FILES as f64 / counts.iter().flatten().sum::<i64>() as f64;
    let mut samples = Table::open(&location, TableName::Samples).await?;
    let mut table = Table::open(&location, TableName::Hours).await?;
    let sample = first_rows(data).await?;
    let (mut random, start, mut bytes) = (Random(7), Instant::now(), 0);
    let begin = FIRST + 7 * DAY;
    let mut of_day: BTreeMap<String, (Vec<DataFile>, Vec<DataFile>)> = BTreeMap::new();
    for hour in 0..hours {
        let time = begin + hour * HOUR;
        let partition = Partition { app: "shop".into(), day: day_of(time) };
        for _ in 0..FILES {
            // The samples themselves are not there. One row stands for them, so that the file has its place in the
            // table.
            let mut file = NewFile::create(&samples, &partition)?;
            file.write(&at(&sample, "time", time)?).await?;
            let of_samples = file.finish().await?.context("it has a row")?;
            let mut file = NewFile::create_at(&table, &partition, &of_samples.path)?;
            let factors: Vec<f64> =
                (0..base.num_rows()).map(|_| random.around(1e6) as f64 / 1e6 * scale).collect();
            let scaled = |column: &Int64Array| -> ArrayRef {
                let values = column.iter().flatten().zip(&factors);
                Arc::new(Int64Array::from_iter_values(
                    values.map(|(value, by)| (value as f64 * by).round() as i64),
                ))
            };
            let rows = with(&at(&base, "hour", time)?, "weight", scaled(&weights))?;
            file.write(&with(&rows, "count", scaled(&counts))?).await?;
            let sums = file.finish().await?.context("it has rows")?;
            bytes += sums.bytes;
            let day = of_day.entry(partition.day.clone()).or_default();
            day.0.push(of_samples);
            day.1.push(sums);
        }
    }
    for (of_samples, sums) in of_day.into_values() {
        samples.replace(&[], &of_samples, Change::Merge).await?;
        table.replace(&[], &sums, Change::Merge).await?;
    }
    let written = start.elapsed().as_secs_f64();
    let reader = Reader::open(&location).await?;
    let end = begin + hours * HOUR;
    let mut answers = Vec::new();
    for period in [1, 24, hours] {
        let selection =
            Selection { app: "shop".into(), from: end - period * HOUR, to: end, filter: Filter::All };
        let (mut times, mut counted) = (Vec::new(), 0);
        for _ in 0..6 {
            let start = Instant::now();
            counted = Functions::of(&reader.stacks(&selection).await?).samples;
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
        }
        answers.push(json!({ "hours": period, "samples": counted, "ms": times }));
    }
    Ok(json!({
        "rows of each file": base.num_rows(),
        "bytes of an hour": bytes / hours as u64,
        "seconds to write": written,
        "answers": answers,
    }))
}

/// All sums that are there, as those of one hour.
async fn sums(data: &str) -> Result<RecordBatch> {
    let context = SessionContext::new();
    context.register_parquet("hours", &format!("{data}/hours/"), ParquetReadOptions::default()).await?;
    let sql = "select min(hour) as hour, release, page, environment, browser, device, marker, spans, stack, \
               sum(weight) as weight, sum(\"count\") as \"count\" from hours \
               group by release, page, environment, browser, device, marker, spans, stack \
               order by release, page, environment, browser, device, stack, marker, spans";
    one(TableName::Hours, context.sql(sql).await?.collect().await?)
}

/// One sample.
async fn first_rows(data: &str) -> Result<RecordBatch> {
    let context = SessionContext::new();
    context.register_parquet("samples", &format!("{data}/samples/"), ParquetReadOptions::default()).await?;
    let columns: Vec<String> =
        TableName::Samples.schema().fields().iter().map(|field| format!("\"{}\"", field.name())).collect();
    let sql = format!("select {} from samples limit 1", columns.join(", "));
    one(TableName::Samples, context.sql(&sql).await?.collect().await?)
}

fn one(table: TableName, batches: Vec<RecordBatch>) -> Result<RecordBatch> {
    let schema = table.schema();
    let mut typed = Vec::new();
    for rows in &batches {
        let columns = rows.columns().iter().zip(schema.fields());
        let columns =
            columns.map(|(column, field)| datafusion::arrow::compute::cast(column, field.data_type()));
        typed.push(RecordBatch::try_new(Arc::clone(&schema), columns.collect::<Result<_, _>>()?)?);
    }
    Ok(datafusion::arrow::compute::concat_batches(&schema, &typed)?)
}

/// These rows, all at one time.
fn at(rows: &RecordBatch, column: &str, time: i64) -> Result<RecordBatch> {
    let times = TimestampMicrosecondArray::from_iter_values((0..rows.num_rows()).map(|_| time));
    with(rows, column, Arc::new(times.with_timezone("UTC")))
}

/// These rows with another column.
fn with(rows: &RecordBatch, column: &str, values: ArrayRef) -> Result<RecordBatch> {
    let mut columns = rows.columns().to_vec();
    columns[rows.schema().index_of(column)?] = values;
    Ok(RecordBatch::try_new(rows.schema(), columns)?)
}
