//! The benchmarks of the collector.

use super::benchmark::{Benchmark, Column, Variant, column, compared, variant};

const CHDB: &str = "chdb";
const SCAN: &str = "DataFusion alone";
const VROOMRS: &str = "vroomrs";

/// The name that stands for all of them.
pub const ALL: &str = "collector";

fn benchmark(
    name: &'static str,
    title: &'static str,
    rounds: u32,
    variants: Vec<Variant>,
    columns: Vec<Column>,
) -> Benchmark {
    let script = "collector.cjs";
    Benchmark { has_collector: true, ..Benchmark::new(script, name, title, rounds, variants, columns) }
}

/// All of them.
pub fn all() -> [Benchmark; 5] {
    [ingest(), questions(), comparison(), merge(), stored()]
}

fn ingest() -> Benchmark {
    benchmark(
        "collector-ingest",
        "Profiles of 300 samples, 11 kB each, sent by another process of this machine for 10 s, and on the disk when they are acknowledged",
        5,
        vec![
            variant("8 connections", &["ingest", "8", "10"]),
            variant("32", &["ingest", "32", "10"]),
            variant("64", &["ingest", "64", "10"]),
        ],
        vec![
            column("perSecond", "profiles a second"),
            column("median", "median acknowledgement, ms"),
            column("p99", "99 of 100, ms"),
            column("resident", "peak resident memory, MiB"),
            column("cpuEach", "CPU µs each"),
            column("writtenEach", "bytes written each"),
        ],
    )
}

fn questions() -> Benchmark {
    let functions = |label, variant_name| variant(label, &["functions", "{folder}", variant_name]);
    benchmark(
        "collector-questions",
        "20,000,000 samples of 66,667 profiles in a week: by the clock",
        5,
        vec![
            functions("from hourly sums", "hours"),
            functions("from samples", "samples"),
            functions("from samples, the first query", "samples-first"),
            functions(SCAN, "scan"),
            functions(CHDB, "chdb"),
        ],
        vec![
            compared("functions", "functions, ms", &[SCAN, CHDB]),
            column("flameGraph", "flame graph of one release, ms"),
            column("series", "functions day by day, ms"),
        ],
    )
}

fn comparison() -> Benchmark {
    benchmark(
        "collector-comparison",
        "Two releases of 10,000 sessions each, compared: by the clock",
        5,
        vec![variant("`query diff`", &["comparison", "{folder}"])],
        vec![column("comparison", "ms")],
    )
}

fn merge() -> Benchmark {
    let merge = |label, variant_name| variant(label, &["merge", "{folder}", variant_name]);
    benchmark(
        "collector-merge",
        "The times of functions over many stored profiles of 300 samples",
        5,
        vec![merge("selfprof, from samples", "selfprof"), merge(VROOMRS, "vroomrs")],
        vec![compared("perSecond", "profiles a second", &[VROOMRS])],
    )
}

fn stored() -> Benchmark {
    benchmark(
        "collector-stored",
        "What is stored of the 1,620 recorded profiles of the shop, after upkeep, in % of what was sent, each gzipped",
        1,
        vec![variant("the shop", &["stored"])],
        vec![
            column("sent", "sent, kB"),
            column("sums", "samples, stacks, frames, hours, %"),
            column("spans", "spans, %"),
            column("profiles", "traces, %"),
        ],
    )
}
