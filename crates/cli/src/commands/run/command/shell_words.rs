//! Words of a shell's command line, as far as quotes go.

use std::iter::Peekable;
use std::str::Chars;

/// The words of a line without operators.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.chars().peekable();
    while let Some(&first) = rest.peek() {
        if first.is_whitespace() {
            rest.next();
        } else {
            words.push(word(&mut rest));
        }
    }
    words
}

fn word(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    let mut quote = None;
    while let Some(char) = rest.next_if(|char| quote.is_some() || !char.is_whitespace()) {
        match char {
            '\'' | '"' if quote.is_none() => quote = Some(char),
            _ if quote == Some(char) => quote = None,
            '\\' if quote != Some('\'') => text.extend(rest.next()),
            _ => text.push(char),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::names::quoted;

    #[test]
    fn lines_are_split_as_by_a_shell() {
        /// `expected` has `|` between words.
        #[track_caller]
        fn check(line: &str, expected: &str) {
            assert_eq!(split(line).join("|"), expected);
        }
        check("  eslint . --fix ", "eslint|.|--fix");
        check(r#"eslint "src/**/*.js" 'a && b'"#, "eslint|src/**/*.js|a && b");
        check(r#"a\ b "c\"d" 'e\f'"#, r#"a b|c"d|e\f"#);
        check("x 'never closed", "x|never closed");
        check("x \\", "x|");
        check("ü\u{2003}é", "ü|é");
        check("", "");
    }

    #[test]
    fn quoted_words_are_one_word() {
        for text in ["plain-word", "a b", "it's", "", "$HOME", "a\"b", "*"] {
            assert_eq!(split(&quoted(text)), [text]);
        }
    }
}
