//! `selfprof recover`: makes traces of a recording that was left behind.

use std::process::ExitCode;

use crate::arguments::{NodeFrames, RecoverArguments};
use crate::failure::Failure;
use crate::files::output::TracePath;
use crate::recording::{Ending, Recording};
use crate::terminal::messages::say;

/// Runs the command. The recording stays, since only its user knows whether the traces are good.
pub fn recover(arguments: &RecoverArguments) -> Result<ExitCode, Failure> {
    let recording = Recording::open(&arguments.directory)?;
    let output = TracePath::new(arguments.output.as_deref(), "recovered".as_ref())?;
    recording.finish(&output, (arguments.top, NodeFrames::default()), &Ending::default())?;
    say(format_args!(
        "the recording is still in {}; delete it when the traces are complete",
        arguments.directory.display()
    ));
    Ok(ExitCode::SUCCESS)
}
