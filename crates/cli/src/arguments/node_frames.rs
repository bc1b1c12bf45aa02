//! The option that says how functions of Node.js's own scripts are shown.

use clap::{Args, ValueEnum};

/// How functions of Node.js's own scripts are shown.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct NodeFramesArgument {
    /// How to show functions of Node.js's own scripts (`node:...`)
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub node_frames: NodeFrames,
}

/// How frames of `node:` scripts are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NodeFrames {
    /// Like built-in functions: only the one that the script called, by name. Where no script called one, the one that
    /// was running
    #[default]
    Fold,
    /// Like functions of the script: all of them, with their locations
    Full,
}
