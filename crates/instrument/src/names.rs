//! The names that instrumented code and its runtime share.

use std::collections::HashSet;

/// Names of the runtime's variables, which occur nowhere in the sources.
///
/// All scripts of a page share one global scope, so all files of a build share one set of names.
///
/// A name counts as occurring wherever the text has it as a whole word, be it in a string or a comment: code may be evaluated later. An
/// identifier that spells such a name with escape sequences is found when its file is instrumented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Whether a profiler has started: `let $on = false`.
    pub active: String,
    /// Events until the next tick: `let $n = 0`.
    pub countdown: String,
    /// The tick at the entry of a function: the time before belongs to the caller.
    pub enter: String,
    /// The tick elsewhere: the time before belongs to the function itself.
    pub check: String,
    /// Takes the value of a native call and returns it, after a tick.
    pub native: String,
}

const BASES: [&str; 5] = ["$on", "$n", "$e", "$t", "$h"];

impl Default for Names {
    fn default() -> Self {
        Self::absent_from([])
    }
}

impl Names {
    /// The first names, in a fixed order, that are absent from all sources.
    pub fn absent_from<'a>(sources: impl IntoIterator<Item = &'a str>) -> Self {
        let mut in_use = NamesInUse::default();
        sources.into_iter().for_each(|source| in_use.add(source));
        in_use.absent()
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        [&self.active, &self.countdown, &self.enter, &self.check, &self.native]
            .into_iter()
            .any(|own| own == name)
    }
}

/// The words of sources that might be taken for names, for callers that do not hold all sources at once.
#[derive(Clone, Debug, Default)]
pub struct NamesInUse(HashSet<String>);

impl NamesInUse {
    /// Adds the words of a source.
    pub fn add(&mut self, source: &str) {
        for word in dollar_words(source) {
            if BASES.iter().any(|base| is_numbered(word, base)) && !self.0.contains(word) {
                self.0.insert(word.to_owned());
            }
        }
    }

    /// Adds what others have found.
    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// As [`Names::absent_from`] for all sources that were added.
    pub fn absent(&self) -> Names {
        let absent = |base: &str| {
            std::iter::once(base.to_owned())
                .chain((1_u64..).map(|number| format!("{base}{number}")))
                .find(|name| !self.0.contains(name))
                .unwrap_or_default()
        };
        let [active, countdown, enter, check, native] = BASES.map(absent);
        Names { active, countdown, enter, check, native }
    }
}

fn is_numbered(word: &str, base: &str) -> bool {
    word.strip_prefix(base).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The words that begin with `$`.
fn dollar_words(source: &str) -> impl Iterator<Item = &str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii();
    let bytes = source.as_bytes();
    source.match_indices('$').filter_map(move |(start, _)| {
        if start > 0 && is_part(bytes[start - 1]) {
            // `\n$on` in a string is a line end before the word, and the `n` of it no part of the word.
            let escaped = start > 1 && bytes[start - 2] == b'\\';
            if !escaped {
                return None;
            }
        }
        let length = bytes[start..].iter().position(|byte| !is_part(*byte)).unwrap_or(bytes.len() - start);
        // Bytes that are not ASCII are parts of words, so a word ends between characters.
        source.get(start..start + length)
    })
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[track_caller]
    fn check(sources: &[&str], expected: [&str; 5]) {
        let names = Names::absent_from(sources.iter().copied());
        let found = [&names.active, &names.countdown, &names.enter, &names.check, &names.native];
        assert_eq!(found, expected, "{sources:?}");
    }

    #[test]
    fn names_occur_in_no_source() {
        check(&[], ["$on", "$n", "$e", "$t", "$h"]);
        check(&["var $name, $element, a$t, $"], ["$on", "$n", "$e", "$t", "$h"]);
        check(&["$n1+$n", "`${$on}`", "'$t'"], ["$on1", "$n2", "$e", "$t1", "$h"]);
        check(&["/* $h */ é$e $eé"], ["$on", "$n", "$e", "$t", "$h1"]);
        check(&["eval('var x\\n$n=1')"], ["$on", "$n1", "$e", "$t", "$h"]);
    }
}
