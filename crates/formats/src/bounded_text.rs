//! Texts of untrusted profiles that are copied for each sample or thread. Without bounds, few bytes of a profile would
//! become many.

/// Characters of a thread's name, or of the name or the value of a label.
pub(crate) const MAX_NAME: usize = 256;

/// Characters of a process's command line.
pub(crate) const MAX_COMMAND: usize = 4_096;

/// The first characters of a text.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn characters_stay_whole() {
        assert_eq!([cut("", 2), cut("ab", 2), cut("äöü", 2), cut("abc", 0)], ["", "ab", "äö", ""]);
    }
}
