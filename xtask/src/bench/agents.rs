//! The benchmarks of the agent for Node: one loaded server, with agents and without.

use super::benchmark::{Benchmark, Column, Variant, column, compared, variant};

/// The script of both, from fixtures/bench.
pub const SCRIPT: &str = "../agents/measure.mjs";

/// The majors on which the cost of labels is measured. Hooks read them on 20 and 22, and V8's heap has them on 24.
pub const MAJORS_WITH_LABELS: [u32; 3] = [20, 22, 24];

const OFF: &str = "off";

fn benchmark(
    name: &'static str,
    title: &'static str,
    variants: Vec<Variant>,
    columns: Vec<Column>,
) -> Benchmark {
    // Not for pages, but for labels, which are on by default from Node 24 on.
    Benchmark { has_pages: true, ..Benchmark::new(SCRIPT, name, title, 5, variants, columns) }
}

/// selfprof's agent and three others.
pub fn agents() -> Benchmark {
    let agent = |label, name| variant(label, &[name, "{folder}"]);
    benchmark(
        "agents",
        "A loaded Fastify server with agents that profile all the time: half of the requests that it takes without an agent, then as many as it takes",
        vec![
            agent(OFF, "off"),
            agent("selfprof/agent", "selfprof"),
            agent("@datadog/pprof", "datadog"),
            agent("@pyroscope/nodejs", "pyroscope"),
            agent("@sentry/profiling-node", "sentry"),
        ],
        vec![
            compared("perSecond", "requests a second at full speed", &[OFF]),
            compared("cpuFull", "CPU µs a request at full speed", &[OFF]),
            compared("p99", "99th percentile latency at half speed, ms", &[OFF]),
            column("resident", "resident memory, MiB"),
            column("exporter", "of which the exporter, MiB"),
        ],
    )
}

/// The agent with and without labels.
pub fn labels() -> Benchmark {
    let node = |label, major| variant(label, &["labels", "{folder}", major]);
    benchmark(
        "agent-labels",
        "What labels cost the same server: CPU µs a request at full speed, of two servers that are loaded in turns",
        vec![
            node("Node 20, by async hooks", "20"),
            node("Node 22, by async hooks", "22"),
            node("Node 24, from V8's heap", "24"),
        ],
        vec![
            column("off", "without the agent"),
            column("without", "agent without labels"),
            column("with", "with labels"),
            column("agentRatio", "agent without labels, of none"),
            column("labelsRatio", "with labels, of without"),
        ],
    )
}
