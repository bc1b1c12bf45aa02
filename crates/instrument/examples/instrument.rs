//! Instruments files and prints them as JSON, with the table of functions that the polyfill reads:
//! `cargo run --example instrument -- FILES`.

#![forbid(unsafe_code)]

use selfprof_instrument::{Instrumented, Names, Options, instrument};
use serde_json::{Value, json};
use std::error::Error;

const STACK: usize = 64 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    // Deep sources need a deep stack.
    let instrumented = std::thread::Builder::new().stack_size(STACK).spawn(instrument_all)?;
    let output = instrumented.join().map_err(|_| "the instrumenting thread panicked")??;
    println!("{output}");
    Ok(())
}

fn instrument_all() -> Result<Value, String> {
    let read = |path: String| {
        std::fs::read_to_string(&path)
            .map(|source| (path.clone(), source))
            .map_err(|error| format!("{path}: {error}"))
    };
    let sources: Vec<_> = std::env::args().skip(1).map(read).collect::<Result<_, _>>()?;
    let names = Names::absent_from(sources.iter().map(|(_, source)| source.as_str()));
    let options = Options { names: names.clone(), stack_bytes: STACK / 2, ..Options::default() };
    let files = sources
        .iter()
        .map(|(path, source)| match instrument(source, &options) {
            Ok(instrumented) => {
                Ok(json!({ "text": instrumented.text, "functions": functions(&instrumented) }))
            }
            Err(problem) => Err(format!("{path}: {problem}")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let Names { enter, check, leave, native, scan, resume, .. } = names;
    Ok(json!({ "names": [enter, check, leave, native, scan, resume], "files": files }))
}

/// For each function its name and place in the source, its start and end in the instrumented text, and the index of the
/// function around it, or -1.
fn functions(instrumented: &Instrumented) -> Vec<Value> {
    let entry = |function: &selfprof_instrument::Function| {
        let (start, end) = (function.start, function.end);
        let parent = function.parent.map_or(-1, i64::from);
        json!([
            function.name,
            function.line,
            function.column,
            start.line,
            start.column,
            end.line,
            end.column,
            parent
        ])
    };
    instrumented.functions.iter().map(entry).collect()
}
