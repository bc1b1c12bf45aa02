//! `cargo xtask fuzz`: searches for inputs on which a parser fails.

mod instrumented;
mod session;

use crate::checkout::Checkout;
use crate::job::{Log, Output};
use crate::problem::Problem;
use crate::progress::{Activity, print, say};
use anyhow::Result;
use clap::{Args, value_parser};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub use instrumented::{Instrumented, Scope};
pub use session::Session;

/// Fuzz the parsers: of profiles, source maps, journals, requests and options.
///
/// A target is built with instrumentation for libFuzzer, on the toolchain that builds the rest: neither nightly nor
/// cargo-fuzz is needed. It starts from the inputs in fuzz/corpus/TARGET and fuzz/findings/TARGET, keeps those that
/// reach new code in target/fuzz, and continues from them the next time.
///
/// A finding is an input on which a property of fuzz/src does not hold, or reading panics, takes longer than a minute
/// or more than 1 GiB. It is kept, and how to run it again is printed. When the bug is fixed, put the input into
/// fuzz/findings/TARGET, where `cargo test` and `cargo xtask test` run it from then on.
#[derive(Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub struct Arguments {
    /// The targets [default: all, one after the other]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// How long to fuzz each target
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = value_parser!(u64).range(1..))]
    seconds: u64,
    /// Print the targets and how many committed inputs each has
    #[arg(long)]
    list: bool,
    /// Run this input alone, on the one target named: a finding, to see what it does
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "update_corpus"])]
    input: Option<PathBuf>,
    /// Do not fuzz, but rewrite fuzz/corpus: the few inputs found so far that reach most of the code
    #[arg(long, conflicts_with = "seconds")]
    update_corpus: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask fuzz                          every target, two minutes each
  cargo xtask fuzz w3c --seconds 3600       one reader, for an hour
  cargo xtask fuzz w3c --input FILE         what a finding does
  cargo xtask fuzz w3c --update-corpus      the best inputs into fuzz/corpus/w3c, to be committed";

/// Runs the command. The exit code is 1 when there was a finding.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let instrumented = Instrumented::new(&checkout, Scope::Everything)?;
    let targets = select(instrumented.targets()?, &arguments.targets)?;
    if arguments.list {
        for target in &targets {
            let inputs = instrumented.committed_inputs(target).len();
            println!("{target:<12} {inputs} inputs");
        }
        return Ok(ExitCode::SUCCESS);
    }
    say("building the targets with instruments (some minutes the first time)");
    instrumented.build(&targets, &Output::Shown)?;
    if let Some(input) = &arguments.input {
        let [target] = &targets[..] else {
            return Err(Problem::error("--input needs one target", "cargo xtask fuzz TARGET --input FILE"));
        };
        return instrumented.run_input(target, input);
    }
    let mut findings = 0;
    for target in &targets {
        let log = Log::create(&checkout.logs(), &format!("fuzz-{target}"))?;
        let activity = Activity::start(&format!("fuzz {target}"));
        let session = Session { instrumented: &instrumented, target, log: &log, activity: &activity };
        if arguments.update_corpus {
            let (before, after) = session.update_corpus()?;
            print(|| println!("{target:<12} {after} inputs in fuzz/corpus, {before} before"));
            continue;
        }
        let corpus = instrumented.work_folder("corpus", target)?;
        match session.fuzz(Duration::from_secs(arguments.seconds), &corpus) {
            Ok(figures) => print(|| println!("{target:<12} {figures}")),
            Err(error) => {
                findings += 1;
                print(|| println!("{target:<12} {error}\n"));
            }
        }
    }
    Ok(if findings > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn select(targets: Vec<String>, only: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = only.iter().find(|name| !targets.contains(name)) {
        return Err(Problem::error(
            format!("there is no target `{unknown}`"),
            format!("the targets are {}", targets.join(", ")),
        ));
    }
    Ok(if only.is_empty() { targets } else { only.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_those_that_are_named() {
        let all = || ["gzip", "w3c"].map(str::to_owned).to_vec();
        #[track_caller]
        fn check(targets: Vec<String>, only: &[&str], expected: Option<&[&str]>) {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            let selected = select(targets, &only).ok();
            assert_eq!(selected, expected.map(|names| names.iter().map(|&name| name.to_owned()).collect()));
        }
        check(all(), &[], Some(&["gzip", "w3c"]));
        check(all(), &["w3c"], Some(&["w3c"]));
        check(all(), &["w3c", "wc3"], None);
    }
}
