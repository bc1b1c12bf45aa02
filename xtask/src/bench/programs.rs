//! The benchmarks of `selfprof run`.

use super::benchmark::{Benchmark, Program, Variant, column, compared, variant};

const ALONE: &str = "`selfprof run --no-children`";
const WITHOUT: &str = "without selfprof";

fn run(label: &'static str, arguments: &[&'static str]) -> Variant {
    let arguments = [&["run", "-i", "1", "-o", "{folder}/trace.json.gz"], arguments].concat();
    Variant { program: Program::Cli, ..variant(label, &arguments) }
}

/// A program that starts no other, with and without looking out for others.
pub fn children() -> Benchmark {
    let check = ["node", "{folder}/programs.cjs", "check"];
    Benchmark {
        name: "children",
        title: "`selfprof run` at 1 ms of a program that loads TypeScript and checks a file, with what it writes",
        script: "programs.cjs",
        rounds: 9,
        side_by_side: false,
        has_pages: false,
        has_collector: false,
        variants: vec![
            variant(WITHOUT, &["check"]),
            run(ALONE, &[&["--no-children"], &check[..]].concat()),
            run("`selfprof run`", &check),
        ],
        columns: vec![compared("cpu", "CPU ms", &[WITHOUT, ALONE])],
    }
}

/// What each process costs, however short.
pub fn start_up() -> Benchmark {
    Benchmark {
        name: "start-up",
        title: "21 processes that do nothing, one after the other",
        script: "programs.cjs",
        rounds: 9,
        side_by_side: false,
        has_pages: false,
        has_collector: false,
        variants: vec![
            variant(WITHOUT, &["processes", "20"]),
            run("`selfprof run`", &["node", "{folder}/programs.cjs", "processes", "20"]),
        ],
        columns: vec![compared("cpu", "CPU ms", &[WITHOUT])],
    }
}

/// The journal of a program that waits.
pub fn idle_journal() -> Benchmark {
    Benchmark {
        name: "idle-journal",
        title: "The journal of a server that nobody calls for two minutes, at 1 ms",
        script: "idle-journal.cjs",
        rounds: 3,
        side_by_side: false,
        has_pages: false,
        has_collector: false,
        variants: vec![variant("selfprof run, 1 ms", &["120"])],
        columns: vec![column("kilobytes", "kB"), column("perTenMinutes", "kB in 10 minutes")],
    }
}

/// A recording of many threads, read and added up.
pub fn threads() -> Benchmark {
    let top = |label, arguments: &[&'static str]| Variant {
        program: Program::Cli,
        ..variant(label, &[&["top", "{folder}/trace.json"], arguments].concat())
    };
    Benchmark {
        name: "threads",
        title: "`selfprof top` of 20 threads with 1,000,000 samples",
        script: "threads.cjs",
        rounds: 9,
        side_by_side: false,
        has_pages: false,
        has_collector: false,
        variants: vec![top("`selfprof top`", &[])],
        columns: vec![
            column("cpu", "CPU ms"),
            column("rate", "MB a second"),
            column("share", "peak memory, of the file's size"),
        ],
    }
}

/// How long the thread is held up while it is recorded.
pub fn pauses() -> Benchmark {
    Benchmark {
        name: "pauses",
        title: "The longest interruption of the thread during 15 s of TypeScript, and all of them together",
        script: "pauses.cjs",
        rounds: 9,
        side_by_side: false,
        has_pages: false,
        has_collector: false,
        variants: vec![variant("selfprof eager, 1 ms", &["1", "15"]), variant("10 ms", &["10", "15"])],
        columns: vec![
            column("longestCpu", "longest, CPU ms"),
            column("longestAlone", "wall ms, without other threads"),
            column("longest", "wall ms"),
            column("share", "all, % of the CPU time"),
            column("stacks", "stacks"),
        ],
    }
}
