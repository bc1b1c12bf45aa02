//! Names for anonymous functions, inferred from where they stand in their source: what they are assigned to, the call that they are an
//! argument of, or the function that returns them.
//!
//! The source is read once, from its start, as a list of tokens with a stack of open brackets. Only the tokens of the current statement,
//! argument or member of each open bracket are kept, and of those at most [`MAX_TOKENS`](brackets::MAX_TOKENS). So the time is linear in the
//! size of the source, whatever it contains and however many functions are asked for.
//!
//! A wrong name is worse than none. A function has no inferred name if no function starts at its position, because the file has changed,
//! or if the source before it is not understood, e.g. because it contains JSX.

mod brackets;
mod naming;
mod scanner;
mod token;
mod walk;

use walk::Walk;

/// The name of a script's own code.
const TOP_LEVEL: &str = "(top level)";

/// The lengths of `function (`, with and without a star and spaces.
const FUNCTION_LENGTHS: std::ops::RangeInclusive<u32> = 8..=10;

/// The lengths of `async function (`, with and without a star and spaces.
const ASYNC_LENGTHS: std::ops::RangeInclusive<u32> = 14..=16;

/// Where an anonymous function is in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionPlace {
    /// The 1-based line.
    pub line: u32,
    /// The 1-based column, in UTF-16 code units: of the parameters (as in V8), or of `function` or `async`.
    pub column: u32,
    /// How many columns of generated code are between this place, as mapped by a source map, and the parameters. If it is not 0 and not
    /// the length of a keyword, then the place is that of something else before the function.
    pub ahead: u32,
}

/// The inferred names of the functions at these places, in the same order. `None` if there is no name, or no anonymous function.
pub fn infer_names(source: &str, places: &[FunctionPlace]) -> Vec<Option<String>> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_unstable_by_key(|&index| places[index]);
    let offsets = offsets(source, order.iter().map(|&index| places[index]));
    let mut starts: Vec<usize> = offsets.iter().flatten().copied().collect();
    starts.sort_unstable();
    starts.dedup();
    let names = Walk::new(source, &starts).names();
    let mut inferred = vec![None; places.len()];
    for (index, offset) in order.into_iter().zip(offsets) {
        inferred[index] = match offset {
            None => None,
            // V8's position of a script or module is its start, where no function of it can be.
            Some(0) => Some(TOP_LEVEL.to_owned()),
            Some(offset) => starts.binary_search(&offset).ok().and_then(|at| names[at].clone()),
        };
    }
    inferred
}

/// The byte offsets of places, which must be sorted.
fn offsets(source: &str, places: impl Iterator<Item = FunctionPlace>) -> Vec<Option<usize>> {
    let mut position = Position::new(source);
    // The last place and its function: many functions may be at one place with a long name.
    let mut last = (0, 0);
    let possible = |place: FunctionPlace| {
        let at = position.advance_to(place).filter(|&at| is_possible(&source[at..], place))?;
        if last.0 != at {
            last = (at, parameters_around(source, at).unwrap_or(at));
        }
        Some(last.1)
    };
    places.map(possible).collect()
}

/// The parenthesis, if the only parameter of an arrow function is here, as in `(a) => 1`. The generated code may have `a => 1`.
fn parameters_around(source: &str, at: usize) -> Option<usize> {
    let parenthesis = source[..at].strip_suffix('(')?.len();
    let end = scanner::word(source, at);
    (end > at && matches!(source.as_bytes().get(end), Some(b':' | b')'))).then_some(parenthesis)
}

/// Whether the source at a place can be the start of the function, see [`FunctionPlace::ahead`]. The generated code may have `function`
/// where the source has an arrow function.
fn is_possible(rest: &str, place: FunctionPlace) -> bool {
    place.ahead == 0
        || FUNCTION_LENGTHS.contains(&place.ahead)
        || rest.starts_with("async") && ASYNC_LENGTHS.contains(&place.ahead)
}

/// Counts lines and columns as V8 does.
struct Position<'text> {
    rest: std::str::CharIndices<'text>,
    /// 1-based.
    line: u32,
    column: u32,
}

impl<'text> Position<'text> {
    fn new(source: &'text str) -> Self {
        // Node removes a byte order mark.
        let mut rest = source.char_indices();
        if source.starts_with('\u{FEFF}') {
            rest.next();
        }
        Self { rest, line: 1, column: 1 }
    }

    fn advance_to(&mut self, place: FunctionPlace) -> Option<usize> {
        loop {
            match (self.line, self.column).cmp(&(place.line, place.column)) {
                std::cmp::Ordering::Equal => return Some(self.rest.offset()),
                std::cmp::Ordering::Greater => return None,
                std::cmp::Ordering::Less => {}
            }
            let (_, character) = self.rest.next()?;
            let is_end = match character {
                '\r' => !self.rest.as_str().starts_with('\n'),
                _ => scanner::ends_line(character),
            };
            if is_end {
                self.line = self.line.saturating_add(1);
                self.column = 1;
            } else {
                self.column = self.column.saturating_add(character.len_utf16() as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests;
