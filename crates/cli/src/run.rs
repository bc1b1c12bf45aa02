//! `selfprof run`: runs a script in Node.js, and afterwards tells where its time went.
//!
//! The recording happens in the script's process: Node preloads the npm package's `run.cjs`, which writes a
//! journal for each thread into a directory that is made here. So the script may end in any way, and the
//! journals remain. They are turned into traces when it has ended.

mod child;
mod recording;
mod script;

use std::process::ExitCode;

use crate::addon;
use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::node::Node;
use crate::output::Output;
use crate::package::Package;
use crate::report::report_run;

use child::{Child, Ended};
use recording::Recording;

/// Runs the command. All that can be known to be wrong is said before the script starts.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let script = script::find(&arguments.script[0])?;
    let node = Node::find(arguments.node.as_deref())?;
    let package = Package::find()?;
    addon::check(&package, &node)?;
    let output = Output::new(arguments.output.as_deref(), &script)?;
    let recording = Recording::prepare()?;

    let ended = Child::spawn(&node, &package, &recording, arguments)?.wait()?;

    let told = recording.tell(&output, arguments.top);
    if let Err(failure) = &told {
        failure.report();
    }
    if arguments.report
        && told.is_ok()
        && let Err(failure) = report_run(output.main())
    {
        failure.report();
    }
    // The journals go before this process does, since a signal leaves no time for it.
    drop(recording);
    match ended {
        Ended::Signal(signal) => Ok(child::die_of(signal)),
        Ended::Code(0) if told.is_err() => Ok(ExitCode::FAILURE),
        Ended::Code(code) => Ok(code.into()),
    }
}
