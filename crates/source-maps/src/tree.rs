//! The functions of a source and their names, from its syntax tree.
//!
//! A function is found by its anchors: the positions that V8 or the mappings of tools give it. V8's is that of the
//! parameters.

mod naming;
mod parsing;
mod walk;

/// The functions of a source.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// In order of offset, then rank.
    anchors: Vec<Anchor>,
    functions: Vec<Function>,
}

/// How an anchor refers to its function. If several functions have an anchor at one place, it is that of the first
/// rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Its parameters.
    Parameters,
    /// `function`, `async`, its name or its key.
    Head,
    /// Its first parameter: the generated code may have `a => 1` for `(a) => 1`.
    FirstParameter,
    /// The start of what declares it, such as `export const`, or the class of a constructor.
    Declaration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Anchor {
    offset: u32,
    rank: Rank,
    function: u32,
}

/// A function in a source.
#[derive(Debug, Default)]
pub(crate) struct Function {
    /// Where its name is in the source, if it has one: its own, or that of the variable or property that it is assigned
    /// to.
    name: Option<(u32, u32)>,
    /// What people may call it, if it has no name of its own.
    pub(crate) inferred: Option<Box<str>>,
}

impl Tree {
    /// The functions of a source. None if it cannot be parsed, or only with too much memory or time.
    pub(crate) fn of(source: &str, is_typescript: bool) -> Self {
        parsing::parse(source, is_typescript)
    }

    /// The function with an anchor at a byte offset.
    pub(crate) fn at(&self, offset: usize) -> Option<(&Function, Rank)> {
        let offset = u32::try_from(offset).ok()?;
        let first = self.anchors.partition_point(|anchor| anchor.offset < offset);
        let anchor = self.anchors.get(first).filter(|anchor| anchor.offset == offset)?;
        Some((self.functions.get(anchor.function as usize)?, anchor.rank))
    }

    /// The names of the functions whose parameters are between two offsets.
    pub(crate) fn names_between<'tree>(
        &'tree self,
        (start, end): (usize, usize),
        source: &'tree str,
    ) -> impl Iterator<Item = &'tree str> {
        let first = self.anchors.partition_point(|anchor| (anchor.offset as usize) < start);
        let anchors = self.anchors[first..].iter().take_while(move |anchor| (anchor.offset as usize) < end);
        anchors
            .filter(|anchor| anchor.rank == Rank::Parameters)
            .filter_map(move |anchor| self.functions[anchor.function as usize].name(source))
    }
}

impl Function {
    /// Its name.
    pub(crate) fn name<'text>(&self, source: &'text str) -> Option<&'text str> {
        let (start, end) = self.name?;
        source.get(start as usize..end as usize)
    }
}
