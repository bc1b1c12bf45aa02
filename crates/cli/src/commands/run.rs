//! `selfprof run`: profiles a program in Node.js.
//!
//! The recording happens in the program's process: Node.js preloads the npm package's `run.cjs`, which streams one journal per
//! thread into a temporary directory. However the program ends, the journals remain, and this command turns them into
//! traces.

mod child;
mod command;

use std::process::ExitCode;

use crate::arguments::RunArguments;
use crate::commands::report::report_run;
use crate::failure::Failure;
use crate::files::output::TracePath;
use crate::installation::addon;
use crate::installation::node::Node;
use crate::installation::package::Package;
use crate::recording::Recording;
use crate::terminal::messages::say;

use child::{Child, Ended, Executable};
use command::{CommandLine, Program, SearchPath};

/// Runs the command. Wrong usage is reported before the program starts.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let command = CommandLine::new(&arguments.command, &SearchPath::of_process())?;
    let output = TracePath::new(arguments.output.as_deref(), &command.name)?;
    let program = program(&command, arguments)?;
    let package = Package::find()?;
    if let Executable::Node(node) = &program {
        addon::check(&package, node)?;
    }
    let recording = Recording::prepare()?;

    let ended = Child::spawn(&program, &package, &recording, &command, arguments)?.wait()?;

    let finished = recording.finish(&output, arguments.top);
    if let Err(failure) = &finished {
        failure.report();
    }
    if arguments.report
        && finished.is_ok()
        && let Err(failure) = report_run(output.path())
    {
        failure.report();
    }
    // Deletes the journals, unless they are all that there is. If a signal killed this process, they would remain, too.
    if finished.is_err()
        && let Some(directory) = recording.keep()
    {
        say(format_args!(
            "the recording is in {}; `selfprof recover {}` writes its traces",
            directory.display(),
            command::quoted(&directory.to_string_lossy())
        ));
    }
    match ended {
        Ended::Signal(signal) => Ok(child::die_of(signal)),
        Ended::Code(0) if finished.is_err() => Ok(ExitCode::FAILURE),
        Ended::Code(code) => Ok(code.into()),
    }
}

/// Finds the executable before anything starts.
fn program(command: &CommandLine, arguments: &RunArguments) -> Result<Executable, Failure> {
    let node = arguments.node.as_deref();
    match &command.program {
        Program::Node => Node::find(node).map(Executable::Node),
        Program::NodeAt(path) => Node::find(Some(path)).map(Executable::Node),
        Program::Other(path, kind) if arguments.no_children => {
            Err(Failure::usage(format!("{} is {kind}, so there is nothing to record", path.display()))
                .hint("without --no-children, the Node.js processes that it starts are recorded"))
        }
        Program::Other(path, _) => {
            let node = node.map(|path| Node::find(Some(path))).transpose()?;
            Ok(Executable::Other { path: path.clone(), node })
        }
    }
}
