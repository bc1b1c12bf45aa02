//! The benchmarks: which scripts of fixtures/bench run against which others, and what is read from them.

use super::files;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// One benchmark: a script that runs in several variants.
pub struct Benchmark {
    /// Its name on the command line and in docs/benchmarks.md.
    pub name: &'static str,
    pub title: &'static str,
    /// The script, from fixtures/bench.
    pub script: &'static str,
    pub rounds: u32,
    /// Whether the variants of a round run at the same time: they then share the machine, which memory does not mind.
    pub side_by_side: bool,
    /// Whether it needs pages, and so a Node that has them.
    pub has_pages: bool,
    pub variants: Vec<Variant>,
    /// The fields of the script's answer that are shown.
    pub columns: Vec<Column>,
}

impl Benchmark {
    /// Whether its script makes files before the first round.
    pub fn makes_files(&self) -> bool {
        self.variants.iter().flat_map(|variant| &variant.arguments).any(|argument| argument.contains(FOLDER))
    }
}

/// One way to run the script, or another program with what the script has made.
pub struct Variant {
    pub label: &'static str,
    pub program: Program,
    /// [`FOLDER`] in them is the folder of the files that the script has made.
    pub arguments: Vec<&'static str>,
    /// Records the run as `selfprof run` does.
    pub recorded: bool,
}

/// What runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Program {
    /// The benchmark's script, whose last line is a JSON object of numbers.
    Script,
    /// selfprof itself.
    Cli,
    /// An example of `crates/formats`.
    Example(&'static str),
}

/// Stands for a folder of files that the script makes before the first round, when it is called with `make FOLDER`.
pub const FOLDER: &str = "{folder}";

/// One field of the script's answer. Each answer has `cpu` (ms) and `peak` (MiB of memory) too: those of the whole process,
/// unless the script says better.
pub struct Column {
    pub field: &'static str,
    pub heading: &'static str,
    /// The variants whose value is 1.00 in a further column of ratios each.
    pub relative_to: Vec<&'static str>,
}

const SELFPROF: &str = "selfprof eager";
const LAZY: &str = "selfprof lazy";
const INSPECTOR: &str = "node:inspector";
const DATADOG: &str = "@datadog/pprof";
const PERF_HOOKS: &str = "node:perf_hooks";

pub fn variant(label: &'static str, arguments: &[&'static str]) -> Variant {
    Variant { label, program: Program::Script, arguments: arguments.to_vec(), recorded: false }
}

/// One variant a profiler, with further arguments that are the same for all.
fn profilers(names: &[&'static str], arguments: &[&'static str]) -> Vec<Variant> {
    names.iter().map(|name| variant(name, &[&[*name], arguments].concat())).collect()
}

pub fn column(field: &'static str, heading: &'static str) -> Column {
    compared(field, heading, &[])
}

pub fn compared(field: &'static str, heading: &'static str, relative_to: &[&'static str]) -> Column {
    Column { field, heading, relative_to: relative_to.to_vec() }
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
            variants: profilers(&[SELFPROF, LAZY, INSPECTOR, DATADOG], &["10"]),
            columns: vec![
                compared("start", "start, CPU ms", &[INSPECTOR, DATADOG]),
                compared("stop", "stop, CPU ms", &[INSPECTOR, DATADOG]),
                column("free", "freed later, CPU ms"),
                column("samples", "samples"),
            ],
        },
        Benchmark {
            name: "long",
            title: "A recording of 100,000 samples",
            script: "long.cjs",
            rounds: 3,
            side_by_side: false,
            has_pages: false,
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
            side_by_side: true,
            has_pages: false,
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
            columns: vec![compared("work", "CPU ms", &["off", "@datadog/pprof, 1 ms"])],
        },
        Benchmark {
            name: "sampling",
            title: "What sampling adds to warm work, with and without by turns in one process",
            script: "sampling.cjs",
            rounds: 5,
            side_by_side: false,
            has_pages: false,
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
            script: "../../report/test/frames.mjs",
            rounds: 9,
            side_by_side: false,
            // Not for pages: what drives Chromium needs such a Node as well.
            has_pages: true,
            variants: vec![
                variant("the report", &["report"]),
                variant("a page that does nothing", &["bare"]),
            ],
            columns: vec![
                column("interactive", "of use after, ms"),
                column("script", "scripts a frame, ms"),
                column("scriptMost", "99 of 100 frames, ms"),
                column("frame", "a frame, ms"),
                column("late", "frames over 25 ms, %"),
                column("longest", "longest frame, ms"),
            ],
        },
        Benchmark {
            name: "truth",
            title: "Truth: total-variation distance of self time, 10 s at 1 ms",
            script: "truth.cjs",
            rounds: 5,
            side_by_side: false,
            has_pages: false,
            variants: profilers(&[SELFPROF, LAZY, INSPECTOR, DATADOG], &["10"]),
            columns: vec![column("distance", "distance, %"), column("samples", "samples")],
        },
        files::formats(),
        files::source_maps(),
    ]
}

/// The names that the command line takes.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        all().iter().map(|benchmark| PossibleValue::new(benchmark.name).help(benchmark.title)),
    )
}
