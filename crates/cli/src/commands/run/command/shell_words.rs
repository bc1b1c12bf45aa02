//! Words and commands of a shell's command line, as far as quotes and operators go: enough to suggest a command.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

/// A word, and where it was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// Without its quotes.
    pub text: String,
    /// In the command line, with its quotes.
    pub range: Range<usize>,
}

/// The words of each simple command: `a b && c` has `a b` and `c`.
pub fn commands(line: &str) -> Vec<Vec<Word>> {
    let mut commands = vec![Vec::new()];
    let mut rest = line.char_indices().peekable();
    while let Some(&(start, first)) = rest.peek() {
        if is_operator(first) {
            commands.push(Vec::new());
            rest.next();
        } else if first.is_whitespace() {
            rest.next();
        } else if let Some(command) = commands.last_mut() {
            let text = word(&mut rest);
            let end = rest.peek().map_or(line.len(), |&(end, _)| end);
            command.push(Word { text, range: start..end });
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

/// The words of a line without operators.
pub fn split(line: &str) -> Vec<String> {
    commands(line).into_iter().flatten().map(|word| word.text).collect()
}

/// A word that a shell reads as this text.
pub fn quoted(text: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./=:,@%+".contains(char);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn is_operator(char: char) -> bool {
    matches!(char, '&' | '|' | ';' | '\n')
}

fn word(rest: &mut Peekable<CharIndices<'_>>) -> String {
    let mut text = String::new();
    let mut quote = None;
    while let Some((_, char)) = rest.next_if(|&(_, char)| {
        // `2>&1` is a redirection.
        let is_redirection = char == '&' && text.ends_with('>');
        quote.is_some() || is_redirection || !(is_operator(char) || char.is_whitespace())
    }) {
        match char {
            '\'' | '"' if quote.is_none() => quote = Some(char),
            _ if quote == Some(char) => quote = None,
            '\\' if quote != Some('\'') => text.extend(rest.next().map(|(_, escaped)| escaped)),
            _ => text.push(char),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_by_a_shell() {
        /// `expected` has `|` between words and `;` between commands.
        #[track_caller]
        fn check(line: &str, expected: &str) {
            let join = |command: Vec<Word>| {
                for word in &command {
                    assert!(line.get(word.range.clone()).is_some());
                }
                command.into_iter().map(|word| word.text).collect::<Vec<_>>().join("|")
            };
            assert_eq!(commands(line).into_iter().map(join).collect::<Vec<_>>().join(";"), expected);
        }
        check("eslint . --fix", "eslint|.|--fix");
        check("  tsc -b&&vite build ", "tsc|-b;vite|build");
        check("a | b || c ; d & e", "a;b;c;d;e");
        check(r#"eslint "src/**/*.js" 'a && b'"#, "eslint|src/**/*.js|a && b");
        check(r#"a\ b "c\"d" 'e\f'"#, r#"a b|c"d|e\f"#);
        check("NODE_ENV=production vite", "NODE_ENV=production|vite");
        check("x 'never closed", "x|never closed");
        check("x \\", "x|");
        check("ü\u{2003}é", "ü|é");
        check("vite 2>&1 | tee log", "vite|2>&1;tee|log");
        check(" && ", "");
        check("", "");
    }

    #[test]
    fn quoted_words_are_one_word() {
        for text in ["plain-word", "a b", "it's", "", "$HOME", "a\"b", "*"] {
            assert_eq!(split(&quoted(text)), [text]);
        }
    }
}
