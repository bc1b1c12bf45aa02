//! Options shared by the commands that load web pages.

use std::path::PathBuf;

use clap::Args;

/// How to start the page host.
#[derive(Debug, Args)]
pub struct PageHostArguments {
    /// Path of jsdom [default: whatever `require('jsdom')` finds from the working directory]
    #[arg(long, value_name = "PATH", env = "SELFPROF_JSDOM", hide_env_values = true)]
    pub jsdom: Option<PathBuf>,

    /// Use this Node.js executable instead of the one on PATH
    #[arg(long, value_name = "PATH", env = "SELFPROF_NODE", hide_env_values = true)]
    pub node: Option<PathBuf>,

    /// Accept invalid TLS certificates
    #[arg(long)]
    pub ignore_certificate_errors: bool,

    /// End the process of the pages when it takes more than MB megabytes of memory
    /// [default: half of the memory of this machine or container]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub memory_limit: Option<u64>,
}
