//! The functions in scopes, and looking them up by position.

/// A 0-based line and column.
pub(crate) type Position = (u32, u32);

/// The maximum number of columns between the start of a function and its parameters, besides its name:
/// `static async function *` and the like. A position further inside belongs to another function, which the scopes
/// lack.
pub(crate) const MAX_HEAD: u32 = 32;

/// The functions in the `scopes` of a map.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The functions of the generated code.
    pub(crate) generated: Functions,
    /// The functions of each source. The last sources may be missing.
    pub(crate) original: Vec<Functions>,
}

/// Nested and consecutive functions.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    /// In the order of their starts.
    pub(super) functions: Vec<Function>,
    /// The positions at which the innermost function changes, in order.
    bounds: Vec<Bound>,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(super) start: Position,
    /// The index of its original name.
    pub(crate) name: Option<u32>,
    /// Whether it is hidden: a tool created it, and it is not a function in the source.
    pub(crate) is_hidden: bool,
}

#[derive(Debug)]
struct Bound {
    at: Position,
    innermost: Option<u32>,
}

impl Functions {
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function that is defined at this position: its parameters, its name, or a keyword before the name.
    /// `name_length` is the number of columns of its name.
    pub(crate) fn defined_at(&self, at: Position, name_length: u32) -> Option<&Function> {
        let after = self.bounds.partition_point(|bound| bound.at <= at);
        let innermost = &self.functions[self.bounds[..after].last()?.innermost? as usize];
        let head = at.1.checked_sub(innermost.start.1).filter(|_| innermost.start.0 == at.0);
        head.filter(|head| *head <= name_length.saturating_add(MAX_HEAD)).map(|_| innermost)
    }

    /// The first function that starts at or after this position on the same line, and the distance in columns.
    pub(crate) fn next_from(&self, at: Position) -> Option<(&Function, u32)> {
        let next = self.functions.partition_point(|function| function.start < at);
        let function = self.functions.get(next).filter(|function| function.start.0 == at.0)?;
        Some((function, function.start.1 - at.1))
    }

    /// Adds the functions of a section at this offset. Call [`Functions::sort`] after the last one.
    pub(crate) fn append(&mut self, section: Self, (line, column): Position) {
        let shifted = |at: Position| {
            let right = if at.0 == 0 { column } else { 0 };
            (at.0.saturating_add(line), at.1.saturating_add(right))
        };
        let first = self.functions.len() as u32;
        let functions = section.functions.into_iter();
        self.functions
            .extend(functions.map(|function| Function { start: shifted(function.start), ..function }));
        let bounds = section.bounds.into_iter();
        self.bounds.extend(bounds.map(|bound| Bound {
            at: shifted(bound.at),
            innermost: bound.innermost.map(|index| index + first),
        }));
    }

    /// Sorts the appended sections.
    pub(crate) fn sort(&mut self) {
        self.bounds.sort_by_key(|bound| bound.at);
    }

    /// Adds a function, which becomes the innermost one, and returns its index.
    pub(super) fn begin(&mut self, function: Function) -> u32 {
        let (at, index) = (function.start, self.functions.len() as u32);
        self.functions.push(function);
        self.bound(at, Some(index));
        index
    }

    /// Sets the innermost function from this position on.
    pub(super) fn bound(&mut self, at: Position, innermost: Option<u32>) {
        if self.bounds.last().and_then(|last| last.innermost) != innermost {
            self.bounds.push(Bound { at, innermost });
        }
    }
}
