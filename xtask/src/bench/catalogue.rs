//! The benchmarks: which scripts of fixtures/bench run against which others, and which fields are shown.

use super::benchmark::{Benchmark, Variant, column, compared, variant};
use super::{agents, files, polyfill, profile_store, programs};
use clap::builder::{PossibleValue, PossibleValuesParser};

const SELFPROF: &str = "selfprof eager";
const LAZY: &str = "selfprof lazy";
const INSPECTOR: &str = "node:inspector";
const DATADOG: &str = "@datadog/pprof";
const PERF_HOOKS: &str = "node:perf_hooks";

/// The programs of fixtures/bench/real-programs, by their labels.
const REAL_PROGRAMS: [(&str, &str); 19] = [
    ("acorn", "acorn"),
    ("Babel", "babel"),
    ("esbuild's JS API", "esbuild"),
    ("ESLint", "eslint"),
    ("Handlebars", "handlebars"),
    ("jimp", "jimp"),
    ("markdown-it", "markdown-it"),
    ("marked", "marked"),
    ("mathjs", "mathjs"),
    ("Piscina", "piscina"),
    ("Prettier", "prettier"),
    ("React, server-side", "react"),
    ("Rollup", "rollup"),
    ("Sass", "sass"),
    ("SVGO", "svgo"),
    ("Terser", "terser"),
    ("tsx", "tsx"),
    ("TypeScript", "typescript"),
    ("webpack", "webpack"),
];

/// A variant for each profiler, with the same further arguments.
fn profilers(names: &[&'static str], arguments: &[&'static str]) -> Vec<Variant> {
    names.iter().map(|name| variant(name, &[&[*name], arguments].concat())).collect()
}

/// All benchmarks, in the order of docs/benchmarks.md.
pub fn all() -> Vec<Benchmark> {
    vec![
        Benchmark {
            name: "start-stop",
            title: "Starting and stopping, 10 s at 1 ms, TypeScript loaded",
            script: "start-stop.cjs",
            rounds: 9,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: profilers(&[SELFPROF, LAZY, INSPECTOR, DATADOG], &["10"]),
            columns: vec![
                compared("start", "start, CPU ms", &[INSPECTOR, DATADOG]),
                compared("stop", "stop, CPU ms", &[INSPECTOR, DATADOG]),
                column("free", "freed later, CPU ms"),
            ],
        },
        Benchmark {
            name: "long",
            title: "A recording of 100,000 samples",
            script: "long.cjs",
            rounds: 3,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: profilers(&[SELFPROF, INSPECTOR, DATADOG], &["100000"]),
            columns: vec![
                column("samples", "samples"),
                compared("stop", "stop, CPU ms", &[INSPECTOR, DATADOG]),
                column("block", "longest block, ms"),
            ],
        },
        Benchmark {
            name: "json-gzip",
            title: "A trace of 100,000 samples, compressed to be sent away",
            script: "json-gzip.cjs",
            rounds: 3,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: vec![
                variant("stop({ format: 'json-gzip' })", &["json-gzip", "100000"]),
                variant("stop(), JSON.stringify, zlib.gzip", &["object", "100000"]),
            ],
            columns: vec![
                column("samples", "samples"),
                column("kilobytes", "kB"),
                compared("stop", "CPU ms", &["stop(), JSON.stringify, zlib.gzip"]),
                column("block", "longest block, ms"),
                column("free", "longest block afterwards, ms"),
            ],
        },
        Benchmark {
            name: "sample-memory",
            title: "What a sample costs in memory while it is recorded at 1 ms",
            script: "sample-memory.cjs",
            rounds: 5,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: profilers(&[SELFPROF, INSPECTOR], &["60"]),
            columns: vec![column("bytes", "bytes a sample"), column("samples", "samples")],
        },
        Benchmark {
            name: "steady",
            title: "Steady state: TypeScript transpiling, warm",
            script: "steady.cjs",
            rounds: 9,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: vec![
                variant("off", &["off", "0", "30"]),
                variant("selfprof eager, no profile", &[SELFPROF, "0", "30"]),
                variant("selfprof eager, 10 ms", &[SELFPROF, "10", "30"]),
                variant("selfprof eager, 1 ms", &[SELFPROF, "1", "30"]),
                variant("selfprof lazy, 10 ms", &[LAZY, "10", "30"]),
                variant("selfprof lazy, 1 ms", &[LAZY, "1", "30"]),
                variant("@datadog/pprof, 1 ms", &[DATADOG, "1", "30"]),
                variant("node:inspector, 1 ms", &[INSPECTOR, "1", "30"]),
            ],
            columns: vec![compared("work", "CPU ms", &["off"])],
        },
        Benchmark {
            name: "sampling",
            title: "What sampling adds to warm work, with and without by turns in one process",
            script: "sampling.cjs",
            rounds: 5,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: vec![
                variant("selfprof eager, 10 ms", &[SELFPROF, "10", "60"]),
                variant("selfprof eager, 1 ms", &[SELFPROF, "1", "60"]),
                variant("@datadog/pprof, 1 ms", &[DATADOG, "1", "60"]),
                variant("node:inspector, 1 ms", &[INSPECTOR, "1", "60"]),
            ],
            columns: vec![column("ratio", "of the same work unsampled")],
        },
        Benchmark {
            name: "cold",
            title: "Cold start: loading TypeScript and checking one file",
            script: "cold.cjs",
            rounds: 20,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: vec![
                variant("off", &["off", "0"]),
                variant("selfprof eager, no profile", &[SELFPROF, "0"]),
                variant("selfprof eager, 10 ms", &[SELFPROF, "10"]),
                variant("selfprof lazy, no profile", &[LAZY, "0"]),
                variant("selfprof eager, begun when first idle", &["warm-up"]),
            ],
            columns: vec![compared("work", "work, CPU ms", &["off"]), column("prepare", "preparing, CPU ms")],
        },
        Benchmark {
            name: "memory",
            title: "Memory of a 10-minute `selfprof run` at 1 ms",
            script: "memory.cjs",
            rounds: 1,
            side_by_side: true,
            has_pages: false,
            has_collector: false,
            variants: vec![
                variant("off", &["10"]),
                Variant { recorded: true, ..variant("selfprof run, 1 ms", &["10"]) },
            ],
            columns: vec![
                column("early", "MiB after 1 minute"),
                column("late", "MiB after 10 minutes"),
                column("growth", "growth, MiB"),
            ],
        },
        Benchmark {
            name: "user-timing",
            title: "Marks and measures, a million of each kept",
            script: "user-timing.cjs",
            rounds: 9,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: profilers(&["selfprof", PERF_HOOKS], &[]),
            columns: vec![
                compared("mark", "mark(name), ns", &[PERF_HOOKS]),
                compared("measure", "measure(name, a, b), ns", &[PERF_HOOKS]),
                compared("markBytes", "bytes a mark", &[PERF_HOOKS]),
                compared("measureBytes", "bytes a measure", &[PERF_HOOKS]),
                compared("allByName", "getEntriesByName, ns a hit of 100,000", &[PERF_HOOKS]),
                compared("oneByName", "getEntriesByName, us for one in 100,000", &[PERF_HOOKS]),
            ],
        },
        Benchmark {
            name: "forced-sample",
            title: "A forced sample, of one profiler; wall-clock time, half of them and all but a hundredth of them in less",
            script: "forced-sample.cjs",
            rounds: 5,
            side_by_side: false,
            has_pages: true,
            has_collector: false,
            variants: vec![
                variant("in the thread, by the addon", &["addon", "1000"]),
                variant("page.forceSample()", &["page", "1000"]),
                variant("POST /session/{session id}/forcesample", &["webdriver", "1000"]),
            ],
            columns: vec![column("median", "median, µs"), column("most", "99 of 100, µs")],
        },
        Benchmark {
            name: "report",
            title: "The report of 100,000 samples: opened, and panned by 360 frames",
            script: "../../ui/report/test/frames.mjs",
            rounds: 9,
            side_by_side: false,
            // Not for pages, but puppeteer-core needs such a Node as well.
            has_pages: true,
            has_collector: false,
            variants: vec![
                variant("the report", &["report"]),
                variant("with 1,000,000 samples of 20 threads", &["threads"]),
                variant("a page that does nothing", &["bare"]),
            ],
            columns: vec![
                column("interactive", "interactive after, ms"),
                column("script", "scripts a frame, ms"),
                column("scriptMost", "99 of 100 frames, ms"),
                column("late", "frames over 25 ms, %"),
            ],
        },
        Benchmark {
            name: "truth",
            title: "Truth: total-variation distance of self time, 10 s at 1 ms",
            script: "truth.cjs",
            rounds: 5,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: profilers(&[SELFPROF, LAZY, INSPECTOR, DATADOG], &["10"]),
            columns: vec![column("distance", "distance, %"), column("samples", "samples")],
        },
        Benchmark {
            name: "real-programs",
            title: "Real programs: total-variation distance of self time by function between two recordings at 1 ms",
            script: "real-programs.cjs",
            rounds: 1,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants: REAL_PROGRAMS.map(|(label, name)| variant(label, &[name])).into(),
            columns: vec![
                column("repeated", "--cpu-prof to itself, %"),
                column("own", "selfprof to --cpu-prof, %"),
                column("ratio", "ratio"),
                column("repeatedMissing", "--cpu-prof to itself, missing"),
                column("missing", "selfprof to --cpu-prof, missing"),
                column("started", "v8.startCpuProfile to --cpu-prof, %"),
                column("ownByLine", "selfprof to --cpu-prof by line, %"),
                column("datadog", "@datadog/pprof to --cpu-prof by line, %"),
                column("rowsOfCpuProf", "--cpu-prof, rows read back"),
                column("rowsOfStarted", "v8.startCpuProfile, rows read back"),
                column("rowsOfDatadog", "@datadog/pprof, rows read back"),
            ],
        },
        programs::children(),
        programs::start_up(),
        programs::idle_journal(),
        programs::threads(),
        programs::pauses(),
        agents::agents(),
        agents::labels(),
        files::formats(),
        files::source_maps(),
    ]
    .into_iter()
    .chain(profile_store::all())
    .chain(polyfill::all())
    .collect()
}

/// The names that the command line takes.
pub fn names() -> PossibleValuesParser {
    let one = |benchmark: &Benchmark| PossibleValue::new(benchmark.name).help(benchmark.title);
    let groups = [
        PossibleValue::new(profile_store::ALL).help("All benchmarks of the collector"),
        PossibleValue::new(polyfill::ALL).help("All benchmarks of the polyfill"),
    ];
    PossibleValuesParser::new(all().iter().map(one).chain(groups))
}
