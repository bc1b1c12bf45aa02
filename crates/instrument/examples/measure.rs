//! Instruments files and prints how fast, and how much they grow: `cargo run --release --example measure -- FILES`.

#![forbid(unsafe_code)]

use selfprof_instrument::{Names, Options, instrument};
use std::time::Instant;

const STACK: usize = 1 << 30;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let measured = std::thread::Builder::new().stack_size(STACK).spawn(|| -> Result<(), String> {
        for file in std::env::args().skip(1) {
            let source = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
            let started = Instant::now();
            let mut runs = 0;
            let instrumented = loop {
                let names = Names::absent_from([source.as_str()]);
                let options = Options { names, stack_bytes: STACK / 2, ..Options::default() };
                let instrumented =
                    instrument(&source, &options).map_err(|problem| format!("{file}: {problem}"))?;
                runs += 1;
                if started.elapsed().as_secs() >= 1 {
                    break instrumented;
                }
            };
            let seconds = started.elapsed().as_secs_f64() / f64::from(runs);
            let started = Instant::now();
            let map = instrumented.source_map(&source, &file, None).map_err(|error| error.to_string())?;
            let map_seconds = started.elapsed().as_secs_f64();
            let megabytes = source.len() as f64 / 1e6;
            println!(
                "{file}: {megabytes:.2} MB, {:.0} MB/s, with a source map of {:.2} MB {:.0} MB/s; {} of {} functions, {} loops, {} forced, {} charged; \
                 {:.1} % larger",
                megabytes / seconds,
                map.len() as f64 / 1e6,
                megabytes / (seconds + map_seconds),
                instrumented.checked_functions(),
                instrumented.functions.len() - 1,
                instrumented.loops,
                instrumented.forced,
                instrumented.charged,
                100.0 * (instrumented.text.len() as f64 / source.len() as f64 - 1.0),
            );
            if let Some(folder) = std::env::var_os("OUT") {
                let name = std::path::Path::new(&file).file_name().unwrap_or_default();
                std::fs::write(std::path::Path::new(&folder).join(name), &instrumented.text)
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    })?;
    measured.join().map_err(|_| "the measurement panicked")??;
    Ok(())
}
