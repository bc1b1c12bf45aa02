//! `selfprof agent-exporter`: sends the profiles of running servers.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use selfprof_exporter::{Exporter, OpenError};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::AgentExporterArguments;
use crate::failure::Failure;
use crate::signals::not_ignored;
use crate::source_maps::recorded_maps;
use crate::terminal::messages::say;

/// How much less often it runs than the program, if both have something to do.
const NICENESS: i32 = 10;

/// Runs the command. Its messages appear among those of the program, so each says who speaks.
pub fn agent_exporter(arguments: &AgentExporterArguments) -> Result<ExitCode, Failure> {
    let _ = rustix::process::nice(NICENESS);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(not_ignored([SIGHUP])))
        .map_err(|error| Failure::job("selfprof agent: cannot handle signals").because(&error))?;
    // Maps that cannot be used would be reported each minute.
    let find_maps = Arc::new(|urls: &[(String, String)]| recorded_maps(urls, &mut |_| {}));
    let exporter = match Exporter::open(&arguments.folder, find_maps) {
        Ok(exporter) => exporter,
        Err(error) => {
            say(format_args!("selfprof agent: {}: {error}", arguments.folder.display()));
            // The agent starts it again after other failures.
            let is_wrong = matches!(error, OpenError::Settings(_));
            return Ok(if is_wrong { ExitCode::from(2) } else { ExitCode::FAILURE });
        }
    };
    let Some(exporter) = exporter else { return Ok(ExitCode::SUCCESS) };
    let stopper = exporter.stopper();
    thread::spawn(move || signals.forever().for_each(|_| stopper.stop()));
    exporter.run();
    Ok(ExitCode::SUCCESS)
}
