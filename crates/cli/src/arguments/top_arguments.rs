//! Arguments of `selfprof top`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use selfprof_formats::Format;
use selfprof_trace::Clock;

use super::label_arguments::LabelArguments;
use super::node_frames::NodeFramesArgument;
use super::shown_time::ShownTime;
use super::source_maps::SourceMapArguments;
use super::values::formats;

/// Print the functions of a trace, most self time first
///
/// The table goes to stdout, followed by a table of measures if the trace has any. Time in which a function waited,
/// rather than ran, is in the row `(waiting)`, if the recording has it. Problems in the trace are reported on
/// stderr. Anonymous functions are shown with an inferred name and a star, if their script can be read and has not
/// changed since the recording: what they are assigned to, the call that they are an argument of, or the function that
/// returns them.
///
/// Files may be at URLs: at most 512 MiB, within five minutes. SSL_CERT_FILE names certificate authorities (PEM) to
/// trust instead of the system's. Proxies come from HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TopArguments {
    /// A W3C trace, a `.cpuprofile`, or a profile in another format that `selfprof convert --help` lists; may be
    /// gzipped; `-` reads stdin; or the URL of such a file, or of a collector
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Read the file as this format instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = formats(&Format::READABLE))]
    pub from: Option<Format>,

    #[command(flatten)]
    pub labels: LabelArguments,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    #[command(flatten)]
    pub node_frames: NodeFramesArgument,

    /// What to group the time by, and which time: `--by package,cpu`
    #[arg(long, value_name = "WHAT", value_parser = ByParser, value_delimiter = ',', default_value = "function")]
    pub by: Vec<By>,

    /// Print at most N rows and N measures
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// Print JSON instead of a table, with times in milliseconds
    #[arg(long)]
    pub json: bool,
}

/// What a row of the table stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Grouping {
    /// Function
    Function,
    /// Script; all native functions share one row
    Resource,
    /// npm package: the folder in node_modules; code outside is one row
    Package,
    /// Kind of work: script, gc, style, layout, paint ...
    Marker,
    /// Thread, in the trace of a whole program
    Thread,
    /// Process, in the trace of a whole program
    Process,
}

/// What a row of the table stands for, or which time it has.
#[derive(Clone, Debug)]
pub enum By {
    Grouping(Grouping),
    /// The value of a label, by the name of the label.
    Label(String),
    Time(ShownTime),
}

/// What a row of the table stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    Of(Grouping),
    /// The values of a label.
    OfLabel(String),
}

impl ValueEnum for By {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                Self::Grouping(Grouping::Function),
                Self::Grouping(Grouping::Resource),
                Self::Grouping(Grouping::Package),
                Self::Grouping(Grouping::Marker),
                Self::Grouping(Grouping::Thread),
                Self::Grouping(Grouping::Process),
                Self::Time(ShownTime::Cpu),
                Self::Time(ShownTime::Wall),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Grouping(grouping) => grouping.to_possible_value(),
            Self::Label(_) => None,
            Self::Time(time) => time.to_possible_value(),
        }
    }
}

/// Parses the words of `--by`.
#[derive(Clone)]
struct ByParser;

impl TypedValueParser for ByParser {
    type Value = By;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<By, clap::Error> {
        match value.to_str().and_then(|value| value.strip_prefix("label:")) {
            Some(name) if !name.is_empty() => Ok(By::Label(name.to_owned())),
            _ => EnumValueParser::<By>::new().parse_ref(command, argument, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words: Vec<PossibleValue> =
            By::value_variants().iter().filter_map(By::to_possible_value).collect();
        let label = PossibleValue::new("label:NAME").help("Value of a label, such as `label:http.route`");
        Some(Box::new(words.into_iter().chain([label])))
    }
}

impl TopArguments {
    /// What `--by` says; `None` if it names two groups, or two times.
    pub fn rows_and_clock(&self) -> Option<(Rows, Clock)> {
        let (mut rows, mut time) = (None, None);
        let mut replace = |named: Rows| rows.replace(named.clone()).is_some_and(|other| other != named);
        for by in &self.by {
            let is_second = match by {
                &By::Grouping(named) => replace(Rows::Of(named)),
                By::Label(name) => replace(Rows::OfLabel(name.clone())),
                &By::Time(named) => time.replace(named).is_some_and(|other| other != named),
            };
            if is_second {
                return None;
            }
        }
        Some((rows.unwrap_or(Rows::Of(Grouping::Function)), time.map(Clock::from).unwrap_or_default()))
    }
}

const EXAMPLES: &str = "\
Examples:
  selfprof top build.selfprof.json
  selfprof top --top 100 trace.json.gz
  selfprof top --by resource CPU.20261121.cpuprofile
  selfprof top --by package,cpu build.selfprof.json
  selfprof top --by label:http.route server.selfprof.json
  selfprof top --label http.route=/cart server.selfprof.json
  selfprof top --json https://example.com/trace.json | jq '.functions[0].name'";
