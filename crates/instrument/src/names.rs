//! The names that instrumented code and its runtime share.

use std::collections::HashSet;

/// Names of the runtime's variables, which occur nowhere in the sources.
///
/// All scripts of a page share one global scope, so all files of a build share one set of names.
///
/// A name counts as occurring wherever the text has it as a whole word, be it in a string or a comment: code may be
/// evaluated later. An identifier that spells such a name with escape sequences is found when its file is instrumented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// What is called at the entry of a function: the time before belongs to the caller. `undefined` unless a profiler
    /// records.
    pub enter: String,
    /// The same in loops and at the end of a function: the time before belongs to the function itself.
    pub check: String,
    /// Takes the value that a function returns, and returns it.
    pub leave: String,
    /// The same for native calls that may take milliseconds.
    pub native: String,
    /// The same for native calls that count as several events.
    pub scan: String,
    /// The same for what `await` and `yield` evaluate to: the time before does not belong to the function.
    pub resume: String,
    /// With tracing: whether a profiler records. `enter` and `check` are then called at entries and exits, and `native`
    /// returns its first argument.
    pub active: String,
    /// With tracing: the variable of a function for what its entry returned.
    pub activation: String,
}

const BASES: [&str; 8] = ["$e", "$t", "$x", "$h", "$s", "$r", "$on", "$n"];

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
        let Self { enter, check, leave, native, scan, resume, active, activation } = self;
        [enter, check, leave, native, scan, resume, active, activation].into_iter().any(|own| own == name)
    }
}

/// The words of sources that might be taken for names, for callers that do not hold all sources at once.
#[derive(Clone, Debug, Default)]
pub struct NamesInUse(HashSet<String>);

impl NamesInUse {
    /// Adds the words of a source.
    pub fn add(&mut self, source: &str) {
        for word in dollar_words(source) {
            let is_candidate = word.len() == 2 || BASES.iter().any(|base| is_numbered(word, base));
            if is_candidate && !self.0.contains(word) {
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
        // Each name stands in the text many times, so that another letter is better than a number.
        let letters = ('a'..='z').chain('A'..='Z').map(|letter| format!("${letter}"));
        let mut letters = letters.filter(|name| !BASES.contains(&name.as_str()) && !self.0.contains(name));
        let [enter, check, leave, native, scan, resume, active, activation] = BASES.map(|base| {
            let numbered =
                (1_u64..).map(|number| format!("{base}{number}")).find(|name| !self.0.contains(name));
            let base = Some(base.to_owned()).filter(|name| !self.0.contains(name));
            base.or_else(|| letters.next()).or(numbered).unwrap_or_default()
        });
        Names { enter, check, leave, native, scan, resume, active, activation }
    }
}

fn is_numbered(word: &str, base: &str) -> bool {
    word.strip_prefix(base).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The words that begin with `$`.
pub(crate) fn dollar_words(source: &str) -> impl Iterator<Item = &str> {
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
    fn check(sources: &[&str], expected: [&str; 6]) {
        let Names { enter, check, leave, native, scan, resume, .. } =
            Names::absent_from(sources.iter().copied());
        assert_eq!([enter, check, leave, native, scan, resume], expected, "{sources:?}");
    }

    #[test]
    fn names_occur_in_no_source() {
        check(&[], ["$e", "$t", "$x", "$h", "$s", "$r"]);
        check(&["var $name, $element, a$t, $"], ["$e", "$t", "$x", "$h", "$s", "$r"]);
        check(&["$s1+$s+$a+$c", "`${$e}`", "'$t'"], ["$b", "$d", "$x", "$h", "$f", "$r"]);
        check(&["/* $h */ é$e $eé"], ["$e", "$t", "$x", "$a", "$s", "$r"]);
        check(&["eval('var x\\n$r=1')"], ["$e", "$t", "$x", "$h", "$s", "$a"]);
        let letters: String = ('a'..='z').chain('A'..='Z').map(|letter| format!("${letter} ")).collect();
        check(&[&letters, "$e1"], ["$e2", "$t1", "$x1", "$h1", "$s1", "$r1"]);
    }
}
