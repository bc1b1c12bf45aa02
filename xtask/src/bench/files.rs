//! The benchmarks of reading and writing files.

use super::benchmark::{Benchmark, Program, Variant, column, compared, variant};

const NODE: &str = "JSON.parse and the same checks in Node";
const BARE: &str = "serde_json alone";

fn cli(label: &'static str, arguments: &[&'static str]) -> Variant {
    Variant { program: Program::Cli, ..variant(label, arguments) }
}

fn example(label: &'static str, arguments: &[&'static str]) -> Variant {
    Variant { program: Program::Example("parse"), ..variant(label, arguments) }
}

/// Reading a long trace, and writing it in each format.
pub fn formats() -> Benchmark {
    let convert = |label, arguments: [&'static str; 2]| {
        cli(label, &["convert", "{folder}/trace.json", "--to", arguments[0], "-o", arguments[1]])
    };
    Benchmark {
        name: "formats",
        title: "A trace of 1,000,000 samples: read and checked, and written in each format",
        script: "formats.cjs",
        rounds: 9,
        side_by_side: false,
        has_pages: false,
        has_collector: false,
        variants: vec![
            example("read and checked", &["validated", "{folder}/trace.json"]),
            example(BARE, &["bare", "{folder}/trace.json"]),
            variant(NODE, &["read", "{folder}/trace.json"]),
            cli("`selfprof top`", &["top", "{folder}/trace.json"]),
            convert("`selfprof convert`, w3c", ["w3c", "{folder}/w3c"]),
            convert("cpuprofile", ["cpuprofile", "{folder}/cpuprofile"]),
            convert("chrome", ["chrome", "{folder}/chrome"]),
            convert("firefox", ["firefox", "{folder}/firefox"]),
            convert("speedscope", ["speedscope", "{folder}/speedscope"]),
            convert("explainer", ["explainer", "{folder}/explainer"]),
            convert("collapsed", ["collapsed", "{folder}/collapsed"]),
            convert("pprof, compressed", ["pprof", "{folder}/pprof"]),
            convert("otlp", ["otlp", "{folder}/otlp"]),
        ],
        columns: vec![
            compared("cpu", "CPU ms", &[NODE]),
            column("rate", "MB a second"),
            column("share", "peak memory, of the trace's size"),
        ],
    }
}

/// Finding the original positions of many functions.
pub fn source_maps() -> Benchmark {
    Benchmark {
        name: "source-maps",
        title: "100,000 functions of TypeScript, minified: their original places and names",
        script: "source-maps.cjs",
        rounds: 9,
        side_by_side: false,
        has_pages: false,
        has_collector: false,
        variants: vec![
            cli("`selfprof top --no-source-maps`", &["top", "--no-source-maps", "{folder}/trace.json"]),
            cli("`selfprof top`", &["top", "{folder}/trace.json"]),
        ],
        columns: vec![column("cpu", "CPU ms"), column("peak", "peak memory, MiB")],
    }
}
