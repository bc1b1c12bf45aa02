//! Reads a trace with validation, or only with the JSON parser beneath it. `cargo xtask bench formats` compares the
//! two.
//!
//! usage: parse validated|bare TRACE

use std::error::Error;
use std::fs::{self, File};
use std::process::ExitCode;

use selfprof_formats::w3c;
use serde::Deserialize;

/// A trace as plain data, as a program would read it that trusts its input.
#[derive(Deserialize)]
struct Bare<'text> {
    #[serde(borrow)]
    frames: Vec<Frame<'text>>,
    #[serde(borrow)]
    resources: Vec<&'text str>,
    #[serde(borrow)]
    samples: Vec<Sample<'text>>,
    stacks: Vec<Stack>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "parsed, but not used")]
struct Frame<'text> {
    name: &'text str,
    resource_id: Option<u32>,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "parsed, but not used")]
struct Sample<'text> {
    timestamp: f64,
    stack_id: Option<u32>,
    #[serde(borrow)]
    marker: Option<&'text str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "parsed, but not used")]
struct Stack {
    parent_id: Option<u32>,
    frame_id: u32,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["validated", path] => {
            let (trace, problems) = w3c::read(File::open(path)?)?;
            println!("{} samples, {} problems", trace.samples().len(), problems.total());
        }
        ["bare", path] => {
            let text = fs::read(path)?;
            let Bare { frames, resources, samples, stacks } = serde_json::from_slice(&text)?;
            let [frames, resources, stacks] = [frames.len(), resources.len(), stacks.len()];
            println!("{} samples, {frames} frames, {resources} resources, {stacks} stacks", samples.len());
        }
        _ => {
            eprintln!("usage: parse validated|bare TRACE");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
