//! `cargo xtask test`: everything that CI runs.

mod counts;
mod plan;
mod report;

use crate::checkout::Checkout;
use crate::job::Log;
use crate::node::{MAJORS, parse_major};
use crate::packages::Packages;
use crate::progress::Activity;
use anyhow::Result;
use clap::Args;
use plan::{Context, Step, plan, select};
use report::Report;
use std::io::{self, Write};
use std::process::ExitCode;

/// Run every test of the project: what CI runs.
///
/// The steps run one after the other; one that fails does not stop those that need nothing of it. A step says little
/// when it passes and everything when it fails. The last line is `N passed, M failed`, counted in steps. The output of
/// each step stays in target/xtask.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Run on these Node majors alone; may be repeated [default: 20, 22, 24 and 26]
    #[arg(long, value_name = "MAJOR", value_parser = parse_major)]
    node: Vec<u32>,
    /// Run one step (`js-22`) or a family of them (`js`), with the steps that it needs; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Print the names of the steps, and what each does
    #[arg(long)]
    list: bool,
}

/// Runs the command. The exit code is 1 when a step failed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut majors = if arguments.node.is_empty() { MAJORS.to_vec() } else { arguments.node.clone() };
    majors.sort_unstable();
    majors.dedup();
    let steps = select(plan(&majors), &arguments.only)?;
    if arguments.list {
        let mut stdout = io::stdout().lock();
        for step in &steps {
            // Whoever reads the list may stop reading, as `head` does.
            if writeln!(stdout, "{:<10} {}", step.name, step.about).is_err() {
                break;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let checkout = Checkout::find()?;
    let context = Context { packages: Packages::open(checkout.logs())?, checkout };
    let mut report = Report::new(steps.len());
    for step in &steps {
        run_step(step, &context, &mut report)?;
    }
    Ok(report.finish())
}

fn run_step(step: &Step, context: &Context, report: &mut Report) -> Result<()> {
    if let Some(missing) = step.needs.iter().find(|needed| report.has_failed(needed)) {
        report.not_run(step, missing);
        return Ok(());
    }
    let log = Log::create(&context.checkout.logs(), &step.name)?;
    let activity = Activity::start(&step.name);
    let outcome = (step.action)(context, &log, &activity);
    let took = activity.elapsed();
    drop(activity);
    match outcome {
        Ok(detail) => report.passed(step, took, &detail),
        Err(error) => report.failed(step, took, &error, &log),
    }
    Ok(())
}
