//! Releases whose functions cannot be matched with those of others: a minifier has given them names, and there is no
//! source map.

use crate::maps::ReleaseMaps;

/// A release whose functions have the names of a minifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minified {
    /// The release, which may be empty.
    pub release: String,
    /// How many named functions of scripts ran.
    pub functions: u64,
    /// How many of them have names like those of a minifier, and no source map.
    pub minified: u64,
    /// Whether the release has maps, but of other scripts.
    pub has_maps: bool,
}

/// Minifiers give names of one or two characters first. Few functions that people write have one.
const LONGEST_NAME: usize = 2;

/// Fewer short names than this part of all, or than this many, are nothing unusual.
const LEAST_PART: u64 = 4;
const LEAST_FUNCTIONS: u64 = 3;

impl Minified {
    /// What these functions of a release, by name and script, say of it before their names are replaced by those of the
    /// sources.
    pub(super) fn of<'a>(
        release: &str,
        functions: impl Iterator<Item = (&'a str, &'a str)>,
        maps: &ReleaseMaps,
    ) -> Option<Self> {
        let mut one =
            Self { release: release.to_owned(), functions: 0, minified: 0, has_maps: !maps.is_empty() };
        for (name, script) in functions.filter(|(name, script)| !name.is_empty() && !script.is_empty()) {
            one.functions += 1;
            let is_short = name.chars().count() <= LONGEST_NAME;
            one.minified += u64::from(is_short && !maps.has_map_of(script));
        }
        one.is_likely().then_some(one)
    }

    fn is_likely(&self) -> bool {
        self.minified >= LEAST_FUNCTIONS && self.minified * LEAST_PART >= self.functions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_short_names_are_nothing_unusual() {
        #[track_caller]
        fn check(functions: u64, minified: u64, expected: bool) {
            let one = Minified { release: String::new(), functions, minified, has_maps: false };
            assert_eq!(one.is_likely(), expected);
        }
        check(10, 0, false);
        check(2, 2, false);
        check(3, 3, true);
        check(100, 24, false);
        check(100, 25, true);
    }
}
