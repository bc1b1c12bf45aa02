//! The benchmarks of the polyfill: how true its samples are, what they cost, and how fast sources are instrumented.

use super::benchmark::{Benchmark, Column, Variant, column, compared, variant};

/// The script of all of them, from fixtures/bench.
pub const SCRIPT: &str = "../polyfill/measure.mjs";

/// Stands for all of them on the command line.
pub const ALL: &str = "polyfill";

/// The programs of fixtures/polyfill that do what pages do, by their labels.
const PROGRAMS: [(&str, &str); 6] = [
    ("acorn", "acorn"),
    ("marked", "marked"),
    ("React", "react"),
    ("Svelte app", "svelte"),
    ("TypeScript", "typescript"),
    ("Vue app", "vue"),
];
const DENSE: (&str, &str) = ("tight loops", "dense");
const IN_FIREFOX: [(&str, &str); 7] = [
    ("acorn, in Firefox", "acorn"),
    ("marked, in Firefox", "marked"),
    ("React, in Firefox", "react"),
    ("Svelte app, in Firefox", "svelte"),
    ("TypeScript, in Firefox", "typescript"),
    ("Vue app, in Firefox", "vue"),
    ("tight loops, in Firefox", "dense"),
];

const SWC: &str = "@swc/core, parse and print";
const BABEL: &str = "@babel/core, parse and print";

fn benchmark(
    name: &'static str,
    title: &'static str,
    rounds: u32,
    variants: Vec<Variant>,
    columns: Vec<Column>,
) -> Benchmark {
    // Not for pages, but puppeteer-core needs such a Node as well.
    Benchmark { has_pages: true, ..Benchmark::new(SCRIPT, name, title, rounds, variants, columns) }
}

/// All of them.
pub fn all() -> Vec<Benchmark> {
    let with_dense = || PROGRAMS.into_iter().chain([DENSE]);
    let shares = |label, browser, kind| variant(label, &["shares", "{folder}", browser, kind]);
    let overhead = |label, browser, name| variant(label, &["overhead", "{folder}", browser, name]);
    let speed = |label, tool| variant(label, &["speed", "{folder}", tool]);
    vec![
        benchmark(
            "polyfill-shares",
            "Fifteen kinds of jobs of known times, 10 s at 10 ms",
            5,
            vec![
                shares("the polyfill, Chromium", "chromium", "selfprof"),
                shares("Firefox", "firefox", "selfprof"),
                shares("WebKit", "webkit", "selfprof"),
                shares("Facebook's design, Chromium", "chromium", "facebook"),
                shares("Firefox", "firefox", "facebook"),
            ],
            vec![
                column("distance", "distance, %"),
                column("samples", "samples with a stack"),
                column("unplaced", "samples without a function, %"),
            ],
        ),
        benchmark(
            "polyfill-programs",
            "Minified bundles in Chromium, 30 s at 10 ms, beside the browser's own profiler in the same run",
            3,
            PROGRAMS.map(|(label, name)| variant(label, &["program", "{folder}", name])).into(),
            vec![
                column("self", "self time, distance, %"),
                column("selfFacebook", "Facebook's design, %"),
                column("selfNative", "the browser's own to itself, %"),
                column("inclusive", "total time, mean error, points"),
                column("inclusiveFacebook", "Facebook's design"),
                column("inclusiveNative", "the browser's own to itself"),
            ],
        ),
        benchmark(
            "polyfill-overhead",
            "What the same work takes longer than in the plain bundle, %, in Chromium and in Firefox; medians of 30 rounds",
            3,
            with_dense()
                .map(|(label, name)| overhead(label, "chromium", name))
                .chain(IN_FIREFOX.into_iter().map(|(label, name)| overhead(label, "firefox", name)))
                .collect(),
            vec![
                column("never", "never started"),
                column("sampling", "sampling at 10 ms"),
                column("stopped", "stopped a second ago"),
            ],
        ),
        benchmark(
            "polyfill-bytes",
            "How much larger the minified bundles become",
            1,
            with_dense().map(|(label, name)| variant(label, &["bytes", "{folder}", name])).collect(),
            vec![
                column("plain", "plain, kB"),
                column("raw", "instrumented, %"),
                column("gzip", "gzipped, %"),
            ],
        ),
        benchmark(
            "polyfill-speed",
            "TypeScript's compiler, 9 MB, with a source map: MB of source a second of CPU time",
            5,
            vec![speed("`selfprof instrument`", "selfprof"), speed(SWC, "swc"), speed(BABEL, "babel")],
            vec![compared("speed", "MB/s", &[SWC])],
        ),
    ]
}
