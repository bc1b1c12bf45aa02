//! The functions of code and of sources, by the `scopes` of a map: the [proposal] that ECMA-426 is to have.
//!
//! Original scopes tell what the functions of a source are called, generated ranges where these are in the code. What a trace
//! asks is which function is defined at a place, so functions alone are kept: neither variables, nor how to get at their
//! values, nor the places that functions were inlined at. A trace tells where a function is defined, not where in it the
//! program was, so it cannot tell whether that was in what was inlined.
//!
//! [proposal]: https://github.com/tc39/ecma426/blob/main/proposals/scopes.md

mod decode;
mod field;

pub use decode::BadScopes;
pub(crate) use decode::decode;
pub(crate) use field::Field;

/// A line and a column, counted from 0.
pub(crate) type Position = (u32, u32);

/// How many columns before its list of parameters a function begins, besides its name: `static async function *` and the like.
/// What begins farther in a function is another one that the scopes lack.
const HEAD: u32 = 32;

/// What the `scopes` of a map tell.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The functions of the code.
    pub(crate) generated: Functions,
    /// The functions of the sources, in their order. Some of the last may lack.
    pub(crate) original: Vec<Functions>,
}

/// Functions that lie one in another or one behind another.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    /// In the order in which they begin.
    functions: Vec<Function>,
    /// Where another function than before is the innermost, in order.
    bounds: Vec<Bound>,
}

#[derive(Debug)]
pub(crate) struct Function {
    start: Position,
    /// Its original name, as an index.
    pub(crate) name: Option<u32>,
    /// Whether a tool made it, of what is a part of its callers in the source or not there at all.
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

    /// The function that is defined at this place: at its list of parameters, or at its name or a keyword before that.
    /// `name_length` is how many columns its name takes.
    pub(crate) fn defined_at(&self, at: Position, name_length: u32) -> Option<&Function> {
        let after = self.bounds.partition_point(|bound| bound.at <= at);
        let innermost = &self.functions[self.bounds[..after].last()?.innermost? as usize];
        let head = at.1.checked_sub(innermost.start.1).filter(|_| innermost.start.0 == at.0);
        head.filter(|head| *head <= name_length.saturating_add(HEAD)).map(|_| innermost)
    }

    /// The first function that begins here or behind, on the same line, and how many columns behind.
    pub(crate) fn next_from(&self, at: Position) -> Option<(&Function, u32)> {
        let next = self.functions.partition_point(|function| function.start < at);
        let function = self.functions.get(next).filter(|function| function.start.0 == at.0)?;
        Some((function, function.start.1 - at.1))
    }

    /// Adds those of a section of the code that begins at this offset. [`Functions::settle`] is called when all are there.
    pub(crate) fn append(&mut self, section: Self, (line, column): Position) {
        let moved = |at: Position| {
            let right = if at.0 == 0 { column } else { 0 };
            (at.0.saturating_add(line), at.1.saturating_add(right))
        };
        let first = self.functions.len() as u32;
        let functions = section.functions.into_iter();
        self.functions
            .extend(functions.map(|function| Function { start: moved(function.start), ..function }));
        let bounds = section.bounds.into_iter();
        self.bounds.extend(bounds.map(|bound| Bound {
            at: moved(bound.at),
            innermost: bound.innermost.map(|index| index + first),
        }));
    }

    /// Orders what was appended.
    pub(crate) fn settle(&mut self) {
        self.bounds.sort_by_key(|bound| bound.at);
    }

    /// Adds a function, which becomes the innermost, and gives its index.
    fn begin(&mut self, function: Function) -> u32 {
        let (at, index) = (function.start, self.functions.len() as u32);
        self.functions.push(function);
        self.bound(at, Some(index));
        index
    }

    /// Notes which function is the innermost from here on.
    fn bound(&mut self, at: Position, innermost: Option<u32>) {
        if self.bounds.last().and_then(|last| last.innermost) != innermost {
            self.bounds.push(Bound { at, innermost });
        }
    }
}

#[cfg(test)]
mod tests;
