//! Arguments of `selfprof diff`.

use std::path::PathBuf;

use clap::Args;

use super::label_arguments::LabelArguments;
use super::node_frames::NodeFramesArgument;
use super::shown_time::ShownTime;
use super::source_maps::SourceMapArguments;

/// Compare two traces: which functions take a larger or smaller share of the time
///
/// selfprof compares each function's share of the busy time, so the traces may differ in length. Functions match
/// if they have the same name and location, or if the name is unique in a script whose code has moved.
///
/// Shares are estimates from samples. By default, only statistically significant changes are listed: those that pass a
/// two-proportion z-test at the 5 % level, with Holm's correction for the number of functions. Consecutive samples of
/// one long call count as one event. If nothing changed, 19 of 20 comparisons list nothing. The test cannot account for
/// other differences between runs, such as their input or the load of the machine: compare two runs of the same program
/// first.
///
/// BASE and NEW may be URLs of files, or of a `selfprof-collector`, as in the address of its page. If both select the
/// same application and period, the collector compares them, by sessions. SELFPROF_COLLECTOR_TOKEN is the token, if the
/// collector needs one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DiffArguments {
    /// The trace before the change, in any format that `top` reads; `-` reads stdin; or a URL
    #[arg(value_name = "BASE")]
    pub base: PathBuf,

    /// The trace after the change
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    #[command(flatten)]
    pub labels: LabelArguments,

    #[command(flatten)]
    pub source_maps: SourceMapArguments,

    #[command(flatten)]
    pub node_frames: NodeFramesArgument,

    /// Which time to compare, where a trace tells them apart. By default, waiting is a separate row
    #[arg(long, value_name = "TIME", value_enum)]
    pub by: Option<ShownTime>,

    /// Print at most N functions
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,

    /// Also list changes that are not statistically significant
    #[arg(long)]
    pub all: bool,

    /// Print JSON instead of a table: all functions with their p-values
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  selfprof diff before.json.gz after.json.gz
  selfprof diff 'http://127.0.0.1:4319/?app=shop&release=1.3' 'http://127.0.0.1:4319/?app=shop&release=1.4'
  selfprof diff --label http.route=/cart monday.selfprof.json tuesday.selfprof.json
  selfprof diff --json main.json branch.json | jq '.functions[] | select(.significant and .change > 0)'";
