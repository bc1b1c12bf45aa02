//! Profiles of the shop in fixtures/shop, with the same number of samples each: the samples of several recorded
//! profiles of one page.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use selfprof_formats::w3c;
use selfprof_trace::{Micros, Sample, Trace};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::SAMPLES;

/// A profile without its identity.
pub struct Recorded {
    pub release: String,
    pub page: String,
    pub trace: Trace,
}

#[derive(Deserialize)]
struct Line<'a> {
    release: String,
    page: String,
    #[serde(borrow)]
    trace: &'a RawValue,
}

/// Reads the fixtures.
pub fn profiles(fixtures: &Path) -> Result<Vec<Recorded>> {
    let mut open: BTreeMap<(String, String), Trace> = BTreeMap::new();
    let mut whole = Vec::new();
    let mut files: Vec<_> = fs::read_dir(fixtures)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    for path in files {
        let file = File::open(&path).with_context(|| path.display().to_string())?;
        for line in BufReader::new(GzDecoder::new(file)).lines() {
            let line = line?;
            let line: Line = serde_json::from_str(&line)?;
            let (recorded, _) = w3c::read(line.trace.get().as_bytes())?;
            let trace = open.entry((line.release.clone(), line.page.clone())).or_default();
            append(trace, &recorded)?;
            if trace.samples().len() == SAMPLES {
                let trace = std::mem::take(trace);
                whole.push(Recorded { release: line.release, page: line.page, trace });
            }
        }
    }
    Ok(whole)
}

/// Appends samples, up to the number that a profile has.
fn append(trace: &mut Trace, other: &Trace) -> Result<()> {
    let stacks = trace.merge_tables(other)?;
    let interval = other.interval().unwrap_or(Micros(10_000));
    let end = trace.samples().last().map_or(Micros::ZERO, |sample| sample.timestamp.saturating_add(interval));
    let start = other.samples().first().map_or(Micros::ZERO, |sample| sample.timestamp);
    for sample in other.samples().iter().take(SAMPLES - trace.samples().len()) {
        let timestamp = end.saturating_add(sample.timestamp.saturating_sub(start));
        let stack = sample.stack.map(|stack| stacks[stack.index()]);
        trace.push_sample(Sample { timestamp, stack, marker: sample.marker });
    }
    Ok(())
}
