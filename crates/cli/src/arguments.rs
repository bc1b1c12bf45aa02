//! Command-line arguments.

mod agent_exporter_arguments;
mod attach_arguments;
mod collector_arguments;
mod convert_arguments;
mod diff_arguments;
mod doctor_arguments;
mod instrument_arguments;
mod label_arguments;
mod node_frames;
mod page_arguments;
mod page_host;
mod recording_arguments;
mod recover_arguments;
mod report_arguments;
mod run_arguments;
mod shown_time;
mod source_maps;
mod top_arguments;
mod values;
mod webdriver_arguments;

use clap::error::{ContextKind, ContextValue};
use clap::{Error, Parser, Subcommand};

pub use agent_exporter_arguments::AgentExporterArguments;
pub use attach_arguments::AttachArguments;
pub use collector_arguments::CollectorArguments;
pub use convert_arguments::ConvertArguments;
pub use diff_arguments::DiffArguments;
pub use doctor_arguments::DoctorArguments;
pub use instrument_arguments::{InstrumentArguments, InstrumentMode};
pub use label_arguments::LabelArguments;
pub use node_frames::{NodeFrames, NodeFramesArgument};
pub use page_arguments::{PageArguments, Wait};
pub use page_host::PageHostArguments;
pub use recording_arguments::{RecordingArguments, SamplingArguments};
pub use recover_arguments::RecoverArguments;
pub use report_arguments::ReportArguments;
pub use run_arguments::{RunArguments, ToggleSignal};
pub use source_maps::SourceMapArguments;
pub use top_arguments::{Grouping, Rows, TopArguments};
pub use webdriver_arguments::WebDriverArguments;

/// Profile JavaScript programs through the W3C JS Self-Profiling API
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// The arguments of this process. Exits if they are wrong.
    pub fn of_process() -> Self {
        Self::try_parse().unwrap_or_else(|error| with_tip(error).exit())
    }
}

/// Suggests `selfprof run NAME` for an unknown subcommand that is not similar to a known one.
fn with_tip(mut error: Error) -> Error {
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && error.get(ContextKind::SuggestedSubcommand).is_none()
    {
        let tip = format!("to profile a program, use 'selfprof run {name}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

const EXAMPLES: &str = "\
Examples:
  selfprof run build.js                 Profile a script, then print the functions with the most self time
  selfprof run -o out.json.gz app.mjs   Choose the trace file
  selfprof run eslint .                 Profile a program that is installed in this project
  selfprof attach --duration 10 1234    Profile a process that is already running
  selfprof top out.json.gz              Print that table for an existing trace
  selfprof diff before.json after.json  Compare two traces
  selfprof report out.json.gz           Write an HTML report: timeline, flame graphs, table
  selfprof convert out.json.gz -o out.cpuprofile
                                        Convert for Chrome DevTools, speedscope, pprof and others
  selfprof page -o load.json app.html   Load a web page without a browser and profile the load
  selfprof webdriver --port 4444        Let Selenium and other WebDriver clients drive such pages
  selfprof doctor https://shop.example/ Report why browsers cannot profile a page
  selfprof instrument dist -o out       Copy a site so that browsers without the API can profile it
  selfprof collector serve              Collect the profiles of pages and servers (a separate program)

See `selfprof COMMAND --help` for more.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArguments),
    Attach(AttachArguments),
    Top(TopArguments),
    Diff(DiffArguments),
    Report(ReportArguments),
    Convert(ConvertArguments),
    Page(PageArguments),
    Webdriver(WebDriverArguments),
    Doctor(DoctorArguments),
    Instrument(InstrumentArguments),
    Collector(CollectorArguments),
    Recover(RecoverArguments),
    // The agent of servers starts it.
    #[command(hide = true)]
    AgentExporter(AgentExporterArguments),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn everything_after_the_command_belongs_to_it() {
        #[track_caller]
        fn check(line: &str, interval: f64, expected: &str) {
            let words = line.split(' ');
            let Command::Run(run) =
                Arguments::parse_from(["selfprof", "run"].into_iter().chain(words)).command
            else {
                panic!("not a run");
            };
            let command: Vec<_> = run.command.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!((run.sampling.interval, command.join(" ").as_str()), (interval, expected));
        }
        check("a.js", 1.0, "a.js");
        check("-i 25 a.js", 25.0, "a.js");
        check("a.js -i 5", 1.0, "a.js -i 5");
        check("-i 2 a.js --top 3 -- -o --help", 2.0, "a.js --top 3 -- -o --help");
        check("-- a.js --version", 1.0, "a.js --version");
        check("-i 2 node -i -e 1", 2.0, "node -i -e 1");
        check("-- --import tsx a.mts -o b", 1.0, "--import tsx a.mts -o b");
    }
}
