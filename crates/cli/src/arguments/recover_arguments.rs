//! Arguments of `selfprof recover`.

use std::path::PathBuf;

use clap::Args;

/// Write the traces of a recording that was left behind
///
/// While a program runs, `selfprof run` records it into a temporary folder. The folder stays if a trace could not be
/// written, for example because the disk was full, or if selfprof itself was killed. This command writes the traces
/// then. The recording stays until you delete it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RecoverArguments {
    /// The folder of the recording: `selfprof-` and six letters or digits, in TMPDIR or /tmp
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Write the trace to FILE; a name ending in `.gz` compresses it [default: recovered.selfprof.json]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print the N functions with the most self time; 0 prints no table
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,
}

const EXAMPLES: &str = "\
Examples:
  selfprof recover /tmp/selfprof-a1B2c3             Write recovered.selfprof.json
  selfprof recover /tmp/selfprof-a1B2c3 -o app.json Choose the trace file";
