//! Options for finding source maps.

use std::path::PathBuf;

use clap::Args;

/// Where to look for source maps.
#[derive(Clone, Debug, Default, Args)]
pub struct SourceMapArguments {
    /// Also search DIR and its subdirectories for source maps, by file name or debug ID. By default, selfprof uses
    /// only the maps that `selfprof run` took from the program, and those that local scripts link to with
    /// `sourceMappingURL`, inline or as a file
    #[arg(long = "source-maps", value_name = "DIR")]
    pub directories: Vec<PathBuf>,

    /// Do not read scripts and their source maps: show names and locations in the generated code, and no inferred names
    #[arg(long, conflicts_with = "directories")]
    pub no_source_maps: bool,
}
