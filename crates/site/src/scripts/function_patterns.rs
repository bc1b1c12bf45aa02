//! Which functions are traced.

use std::sync::atomic::{AtomicBool, Ordering};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{PatternKind, SiteError};

/// What functions without a name are called.
const ANONYMOUS: &str = "(anonymous)";

/// Patterns of the names of functions.
#[derive(Debug)]
pub struct FunctionPatterns {
    patterns: Vec<String>,
    globs: GlobSet,
    /// Whether a function was found for each. Any thread may set them; they are read when all are done.
    is_matched: Vec<AtomicBool>,
}

impl FunctionPatterns {
    pub fn new(patterns: &[String]) -> Result<Self, SiteError> {
        let failed = |error: Option<globset::Error>| SiteError::Pattern { of: PatternKind::Functions, error };
        if patterns.iter().any(String::is_empty) {
            return Err(failed(None));
        }
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            globs.add(GlobBuilder::new(pattern).build().map_err(|error| failed(Some(error)))?);
        }
        let globs = globs.build().map_err(|error| failed(Some(error)))?;
        let is_matched = patterns.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self { patterns: patterns.to_owned(), globs, is_matched })
    }

    /// Whether a function is chosen by its name. One without a name is called `(anonymous)`, as in tables.
    pub fn choose(&self, name: &str) -> bool {
        let mut matched = self.globs.matches(name);
        if name.is_empty() {
            matched.extend((0..self.patterns.len()).filter(|&index| self.patterns[index] == ANONYMOUS));
        }
        for index in &matched {
            self.is_matched[*index].store(true, Ordering::Relaxed);
        }
        !matched.is_empty()
    }

    /// The patterns that have chosen no function, so far.
    pub fn unmatched(&self) -> Vec<String> {
        let each = self.patterns.iter().zip(&self.is_matched);
        let unmatched = each.filter(|(_, is_matched)| !is_matched.load(Ordering::Relaxed));
        unmatched.map(|(pattern, _)| pattern.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_chosen_by_their_whole_names() {
        #[track_caller]
        fn check(patterns: &[&str], names: &[&str], chosen: &[&str], unmatched: &[&str]) {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            let patterns = FunctionPatterns::new(&patterns).unwrap();
            let found: Vec<&str> = names.iter().copied().filter(|name| patterns.choose(name)).collect();
            assert_eq!((found, patterns.unmatched()), (chosen.to_vec(), to_strings(unmatched)));
        }
        fn to_strings(texts: &[&str]) -> Vec<String> {
            texts.iter().map(|&text| text.to_owned()).collect()
        }
        let names = ["parse", "parseAll", "get total", ""];
        check(&["parse*", "get *"], &names, &["parse", "parseAll", "get total"], &[]);
        check(&["parse", "pares*", "total"], &names, &["parse"], &["pares*", "total"]);
        check(&["*"], &names, &names, &[]);
        check(&["(anonymous)", "?*"], &names, &names, &[]);
        check(&["(anonymous)"], &names, &[""], &[]);
        check(&["(anonymous)"], &["parse"], &[], &["(anonymous)"]);
        check(&["?*"], &names, &names[..3], &[]);
        assert!(FunctionPatterns::new(&to_strings(&["a", ""])).is_err());
        assert!(FunctionPatterns::new(&to_strings(&["["])).is_err());
    }
}
