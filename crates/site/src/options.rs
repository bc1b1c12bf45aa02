//! What is instrumented, and how.

use std::path::PathBuf;

/// What is instrumented, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scripts, HTML pages, and folders of a built site. A single folder is copied with everything in it; several
    /// inputs are copied under their own names.
    pub inputs: Vec<PathBuf>,
    /// The folder of the copies. It may be inside of an input, and is then not copied itself.
    pub output: PathBuf,
    /// Whether each instrumented script gets a source map. Otherwise links to source maps are removed.
    pub has_source_maps: bool,
    /// Patterns of the paths of scripts to instrument; none for all. A pattern without `/` is matched against file
    /// names, others against paths from the input folder.
    pub include: Vec<String>,
    /// Patterns of the paths of scripts to leave out.
    pub exclude: Vec<String>,
    /// What the instrumented code records.
    pub mode: Mode,
}

/// What the instrumented code records, and of which functions.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Samples.
    Sample {
        /// Functions with fewer statements are left out, unless they have a loop, an `await` or a slow call.
        min_statements: u32,
    },
    /// Entries and exits.
    Trace {
        /// Patterns of the whole names of functions; none for all functions. `(anonymous)` stands for those without a
        /// name.
        functions: Vec<String>,
    },
}

impl Mode {
    /// Whether entries and exits are recorded.
    pub fn is_trace(&self) -> bool {
        matches!(self, Self::Trace { .. })
    }
}
