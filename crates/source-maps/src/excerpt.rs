//! Excerpts of a source around a function.

use crate::text::Text;

/// The position of a function in a source whose text is in the map.
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'map> {
    text: &'map Text,
    /// 0-based.
    line: u32,
}

impl<'map> Excerpt<'map> {
    pub(crate) fn new(text: &'map Text, line: u32) -> Self {
        Self { text, line }
    }

    /// The first line of the function, with up to `before` lines before it and `after` lines after it, and the 1-based
    /// number of the first one. Empty if the source has no such line.
    pub fn lines(&self, before: u32, after: u32) -> (u32, Vec<&'map str>) {
        let first = self.line.saturating_sub(before);
        let last = self.line.saturating_add(after);
        if self.text.line(self.line).is_none() {
            return (first.saturating_add(1), Vec::new());
        }
        (first.saturating_add(1), (first..=last).map_while(|line| self.text.line(line)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_stay_within_the_source() {
        #[track_caller]
        fn check(line: u32, (before, after): (u32, u32), expected: (u32, &[&str])) {
            let text = Text::new("a\r\nb\n\nd".to_owned(), "a.js");
            let (first, lines) = Excerpt::new(&text, line).lines(before, after);
            assert_eq!((first, lines.as_slice()), expected);
        }
        check(0, (2, 1), (1, &["a", "b"]));
        check(1, (1, 9), (1, &["a", "b", "", "d"]));
        check(3, (1, 0), (3, &["", "d"]));
        check(4, (1, 1), (4, &[]));
        check(u32::MAX, (0, u32::MAX), (u32::MAX, &[]));
    }
}
