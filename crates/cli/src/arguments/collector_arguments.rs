//! Arguments of `selfprof collector`.

use std::ffi::OsString;

use clap::Args;

/// Collect profiles of pages and servers, and compare releases: runs selfprof-collector
///
/// The collector is a separate program, `selfprof-collector`, beside this one or on PATH.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct CollectorArguments {
    /// Arguments of selfprof-collector, such as `serve` or `--help`
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}
