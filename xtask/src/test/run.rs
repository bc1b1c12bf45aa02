//! Runs the steps: each in a thread of its own, when the schedule says so.

use super::schedule::{Entry, Load, Next, Schedule};
use super::step::{Context, Step};
use super::summary::{Report, Times};
use crate::job::Log;
use crate::progress::{Activity, Priority};
use anyhow::{Result, anyhow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

/// How a step ended.
struct Ended {
    step: usize,
    times: Times,
    outcome: Result<String>,
    log: Option<Log>,
}

/// Runs all steps, as many at a time as `jobs` processors have room for.
pub fn run(steps: &[Step], jobs: usize, context: &Context, report: &mut Report) {
    let mut schedule = Schedule::new(entries(steps), jobs);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        while !schedule.is_done() {
            while let Some(next) = schedule.next() {
                match next {
                    Next::Start(step) => {
                        let sender = sender.clone();
                        // The receiver lives longer.
                        scope.spawn(move || _ = sender.send(run_step(&steps[step], step, context)));
                    }
                    Next::Skip { step, needed } => report.skipped(&steps[step], &steps[needed]),
                }
            }
            // None is left to wait for when the last ones were skipped.
            if schedule.is_done() {
                break;
            }
            let Ok(Ended { step, times, outcome, log }) = receiver.recv() else { break };
            schedule.end(step, outcome.is_ok());
            match outcome {
                Ok(detail) => report.passed(&steps[step], times, &detail),
                Err(error) => report.failed(&steps[step], times, &error, log.as_ref()),
            }
        }
    });
}

fn entries(steps: &[Step]) -> Vec<Entry> {
    let index_of = |name: &String| steps.iter().position(|step| step.name == *name);
    let entry = |step: &Step| Entry {
        needs: step.needs.iter().filter_map(index_of).collect(),
        load: step.load,
        exclusive: step.exclusive,
    };
    steps.iter().map(entry).collect()
}

fn run_step(step: &Step, index: usize, context: &Context) -> Ended {
    let priority = if step.load == Load::Background { Priority::Low } else { Priority::Normal };
    let started = Instant::now();
    let activity = Activity::with_priority(&step.name, priority);
    let (outcome, log) = match Log::create(&context.checkout.logs(), &step.name) {
        // The other steps go on after a panic, too, and steps that wait for this one are notified.
        Ok(log) => {
            let ran = catch_unwind(AssertUnwindSafe(|| (step.action)(context, &log, &activity)));
            (ran.unwrap_or_else(|_| Err(anyhow!("the step panicked: see above"))), Some(log))
        }
        Err(error) => (Err(error), None),
    };
    let times = Times { started, took: activity.elapsed(), cpu: activity.cpu() };
    Ended { step: index, times, outcome, log }
}
