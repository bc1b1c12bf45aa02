//! Names for anonymous functions, inferred from where they stand in their source.
//!
//! A wrong name is worse than none. A function has no inferred name if no function is at its position, because the file
//! has changed, or if the source cannot be parsed.

use crate::text::Text;
use crate::tree::Rank;

/// The name of a script's own code.
pub const TOP_LEVEL: &str = "(top level)";

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
    /// How many columns of generated code are between this place, as mapped by a source map, and the parameters. If it
    /// is not 0 and not the length of a keyword, then the place is that of something else before the function.
    pub ahead: u32,
}

impl FunctionPlace {
    /// V8's position of a script or module is its start, where no function of it can be.
    pub fn is_script(self) -> bool {
        (self.line, self.column, self.ahead) == (1, 1, 0)
    }
}

/// The inferred names of the functions at these places of the source with this name, in the same order. `None` if there
/// is no name, or no anonymous function.
pub fn infer_names(source: &str, name: &str, places: &[FunctionPlace]) -> Vec<Option<String>> {
    // Node removes a byte order mark.
    let source = source.strip_prefix('\u{FEFF}').unwrap_or(source);
    let text = Text::new(source.to_owned(), name);
    places.iter().map(|&place| inferred(&text, place).map(str::to_owned)).collect()
}

/// The inferred name of the function at a place.
pub(crate) fn inferred(text: &Text, place: FunctionPlace) -> Option<&str> {
    if place.is_script() {
        return Some(TOP_LEVEL);
    }
    let (line, column) = (place.line.checked_sub(1)?, place.column.checked_sub(1)?);
    let is_possible = place.ahead == 0
        || FUNCTION_LENGTHS.contains(&place.ahead)
        || ASYNC_LENGTHS.contains(&place.ahead) && text.has_word_at(line, column, &["async"]);
    if !is_possible {
        return None;
    }
    let (function, rank) = text.function_at(line, column)?;
    // What is before a function by the length of `function (` is the function.
    let is_function = match rank {
        Rank::Parameters | Rank::Head => true,
        Rank::FirstParameter => place.ahead == 0,
        Rank::Declaration => false,
    };
    function.inferred.as_deref().filter(|_| is_function)
}

#[cfg(test)]
mod tests;
