//! What a benchmark consists of: a script, its variants, and the fields of its output that are shown.

/// One benchmark: a script that runs in several variants.
pub struct Benchmark {
    /// Its name on the command line and in docs/benchmarks.md.
    pub name: &'static str,
    pub title: &'static str,
    /// The script, from fixtures/bench.
    pub script: &'static str,
    pub rounds: u32,
    /// Whether the variants of a round run at the same time, which does not affect memory.
    pub side_by_side: bool,
    /// Whether it needs pages, and so a Node that jsdom runs on.
    pub has_pages: bool,
    /// Whether it needs the collector, its measuring program, and its peers.
    pub has_collector: bool,
    pub variants: Vec<Variant>,
    /// The fields of the script's output that are shown.
    pub columns: Vec<Column>,
}

impl Benchmark {
    /// One whose variants run in turn, and which needs neither pages nor the collector.
    pub fn new(
        script: &'static str,
        name: &'static str,
        title: &'static str,
        rounds: u32,
        variants: Vec<Variant>,
        columns: Vec<Column>,
    ) -> Self {
        Self {
            name,
            title,
            script,
            rounds,
            side_by_side: false,
            has_pages: false,
            has_collector: false,
            variants,
            columns,
        }
    }

    /// Whether its script makes files before the first round.
    pub fn makes_files(&self) -> bool {
        self.variants.iter().flat_map(|variant| &variant.arguments).any(|argument| argument.contains(FOLDER))
    }
}

/// One way to run the script, or another program on the files that the script has made.
pub struct Variant {
    pub label: &'static str,
    pub program: Program,
    /// [`FOLDER`] in them is replaced by the folder of those files.
    pub arguments: Vec<&'static str>,
    /// Records the run as `selfprof run` does.
    pub recorded: bool,
}

/// What runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Program {
    /// The benchmark's script, whose last line is a JSON object of numbers.
    Script,
    /// selfprof itself.
    Cli,
    /// An example of `crates/formats`.
    Example(&'static str),
}

/// Stands for a folder of files that the script makes before the first round, when it is called with `make FOLDER`.
pub const FOLDER: &str = "{folder}";

/// One field of the script's output. Each run also has `cpu` (ms) and `peak` (MiB of memory): those of the whole
/// process, unless the script prints its own.
pub struct Column {
    pub field: &'static str,
    pub heading: &'static str,
    /// The variants to compare with, each in a further column of ratios.
    pub relative_to: Vec<&'static str>,
}

/// A variant that runs the script.
pub fn variant(label: &'static str, arguments: &[&'static str]) -> Variant {
    Variant { label, program: Program::Script, arguments: arguments.to_vec(), recorded: false }
}

/// A column without ratios.
pub fn column(field: &'static str, heading: &'static str) -> Column {
    compared(field, heading, &[])
}

/// A column with a ratio to each of these variants.
pub fn compared(field: &'static str, heading: &'static str, relative_to: &[&'static str]) -> Column {
    Column { field, heading, relative_to: relative_to.to_vec() }
}
