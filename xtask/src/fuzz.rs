//! `cargo xtask fuzz`: looks for inputs that what reads others' files cannot stand.

mod instrumented;
mod session;

use crate::checkout::Checkout;
use crate::job::{Log, Output};
use crate::packages::Packages;
use crate::problem::Problem;
use crate::progress::{Activity, say, seconds};
use anyhow::{Result, bail};
use clap::{Args, value_parser};
use session::Session;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub use instrumented::Instrumented;

/// Feed everything that reads what others wrote with inputs that a fuzzer makes up.
///
/// A target is built with instruments for libFuzzer, on the toolchain that builds the rest: neither nightly nor cargo-fuzz is
/// needed. It starts from the inputs in fuzz/corpus/TARGET and fuzz/findings/TARGET, keeps those that reach new code in the
/// fuzzer's own folder (target/fuzz, or in the cache where CI is set), and goes on from them the next time.
///
/// A finding is an input on which a property of fuzz/src does not hold, or reading panics, takes longer than a minute or
/// more than 1 GiB. It is kept, and how to run it again is printed. When it is mended, put it into fuzz/findings/TARGET, where
/// `cargo test` and `cargo xtask test` run it from then on.
#[derive(Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub struct Arguments {
    /// The targets [default: all, one after the other]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// How long to fuzz each target
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = value_parser!(u64).range(1..))]
    seconds: u64,
    /// Print the targets and how many inputs are kept of each
    #[arg(long)]
    list: bool,
    /// Run this input alone, on the one target named: a finding, to see what it does
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "keep"])]
    input: Option<PathBuf>,
    /// Do not fuzz, but make fuzz/corpus of what was found so far: few inputs, short ones first, that reach the same code
    #[arg(long, conflicts_with = "seconds")]
    keep: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask fuzz                          every target, two minutes each
  cargo xtask fuzz w3c --seconds 3600       one reader, for an hour
  cargo xtask fuzz w3c --input FILE         what a finding does
  cargo xtask fuzz w3c --keep               the new inputs into fuzz/corpus/w3c, to be committed";

/// Runs the command. The exit code is 1 when there was a finding.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = Checkout::find()?;
    let instrumented = Instrumented::new(&checkout, &Packages::open(checkout.logs())?)?;
    let targets = select(instrumented.targets()?, &arguments.targets)?;
    if arguments.list {
        for target in &targets {
            let inputs = instrumented.kept(target).len();
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
        if arguments.keep {
            let (before, after) = session.keep()?;
            activity.suspend(|| println!("{target:<12} {after} inputs in fuzz/corpus, {before} before"));
            continue;
        }
        let corpus = instrumented.own("corpus", target)?;
        match session.fuzz(Duration::from_secs(arguments.seconds), &corpus) {
            Ok(figures) => activity.suspend(|| println!("{target:<12} {figures}")),
            Err(error) => {
                findings += 1;
                activity.suspend(|| println!("{target:<12} {error}\n"));
            }
        }
    }
    Ok(if findings > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What the tests do: the inputs that are kept, then a short search, for each target.
pub fn briefly(checkout: &Checkout, packages: &Packages, log: &Log, activity: &Activity) -> Result<String> {
    /// For each target; what a search of hours would find is not looked for here.
    const SEARCH: Duration = Duration::from_secs(6);
    let instrumented = Instrumented::new(checkout, packages)?;
    let targets = instrumented.targets()?;
    instrumented.build(&targets, &Output::Logged(log, activity))?;
    let built = activity.elapsed();
    let mut failed = Vec::new();
    let mut runs = 0;
    for target in &targets {
        let session = Session { instrumented: &instrumented, target, log, activity };
        // To begin from all that was ever found takes longer each time.
        let corpus = tempfile::tempdir()?;
        match session.check().and_then(|()| session.fuzz(SEARCH, corpus.path())) {
            Ok(figures) => runs += figures.runs,
            Err(error) => failed.push(format!("{target}: {error}")),
        }
    }
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(format!("{} targets, {runs} inputs, built in {}", targets.len(), seconds(built)))
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
