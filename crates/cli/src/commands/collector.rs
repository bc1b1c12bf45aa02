//! `selfprof collector`: becomes `selfprof-collector`, which is not part of this program because of its query engine.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::arguments::CollectorArguments;
use crate::failure::Failure;

const PROGRAM: &str = "selfprof-collector";

/// Runs the command. Returns only if the program cannot be started.
pub fn collector(arguments: &CollectorArguments) -> Result<ExitCode, Failure> {
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(PROGRAM)));
    let program = beside.as_deref().filter(|program| program.is_file()).unwrap_or(Path::new(PROGRAM));
    let error = Command::new(program).args(&arguments.arguments).exec();
    if error.kind() == io::ErrorKind::NotFound {
        return Err(Failure::job(format!("{PROGRAM} is neither beside this program nor on PATH"))
            .hint("`npx @selfprof/collector` runs it without an installation; in a checkout of selfprof, `cargo xtask build collector` builds it"));
    }
    Err(Failure::job(format!("{} cannot be started: {error}", program.display())))
}
