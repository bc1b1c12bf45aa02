//! Whether a source has been instrumented before.

use crate::calls;
use crate::edits::Texts;
use crate::names::{Names, dollar_words};

/// More than the statement that stands in for the runtime has, whatever its names are.
const MAX_FALLBACK: usize = 1 << 10;

/// Whether a source is what [`instrument`](crate::instrument) or [`instrument_calls`](crate::instrument_calls)
/// returned, with [`Options::has_fallback`](crate::Options::has_fallback).
///
/// Its first statement is then the one that stands in for the runtime, word for word. Comments may be before it, which
/// bundlers add, and directives. That statement anywhere else does not count: a bundle may contain a module that was
/// instrumented.
pub fn is_instrumented(source: &str) -> bool {
    let statement = first_statement(source);
    let statement = &statement[..statement.floor_char_boundary(MAX_FALLBACK)];
    if !statement.starts_with("typeof $") {
        return false;
    }
    let words: Vec<String> = dollar_words(statement).take(7).map(str::to_owned).collect();
    let mut expected = Vec::new();
    if let [leave, enter, check, _, native, scan, resume] = words.as_slice() {
        let [leave, enter, check, native, scan, resume] =
            [leave, enter, check, native, scan, resume].map(String::clone);
        let names = Names { enter, check, leave, native, scan, resume, ..Names::default() };
        expected.push(Texts::new(&names).fallback);
    }
    if let [active, _, native, ..] = words.as_slice() {
        let names = Names { active: active.clone(), native: native.clone(), ..Names::default() };
        expected.push(calls::fallback(&names));
    }
    expected.iter().any(|text| statement.starts_with(text))
}

/// What follows the line with `#!`, comments, directives and empty statements.
fn first_statement(source: &str) -> &str {
    let mut rest = source.strip_prefix('\u{FEFF}').unwrap_or(source);
    if rest.starts_with("#!") {
        rest = after_line(rest);
    }
    loop {
        let is_space = |c: char| c.is_whitespace() || matches!(c, ';' | '\u{FEFF}');
        rest = rest.trim_start_matches(is_space);
        let after = if ["//", "<!--", "-->"].iter().any(|start| rest.starts_with(start)) {
            Some(after_line(rest))
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, after)| after)
        } else {
            after_string(rest)
        };
        match after {
            Some(after) => rest = after,
            None => return rest,
        }
    }
}

fn after_line(text: &str) -> &str {
    text.find(['\n', '\r', '\u{2028}', '\u{2029}']).map_or("", |end| &text[end..])
}

/// What follows a string at the start of a text.
fn after_string(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut is_escaped = false;
    let end = text[1..].find(|c| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some(&text[end + 2..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Calls, Options, instrument, instrument_calls};

    /// What is made of a source, for samples and for calls.
    fn instrumented(source: &str) -> [String; 2] {
        let names = Names::absent_from([source]);
        let options = Options { names, has_fallback: true, ..Options::default() };
        let calls = Calls { first_id: 0, is_chosen: &|_| true };
        [instrument(source, &options), instrument_calls(source, &options, &calls)]
            .map(|result| result.unwrap().text)
    }

    /// A source is plain, and what is made of it is not.
    #[track_caller]
    fn check(source: &str) {
        assert!(!is_instrumented(source), "{source}");
        for text in instrumented(source) {
            assert!(is_instrumented(&text), "{text}");
        }
    }

    #[test]
    fn what_was_instrumented_is_known() {
        check("f(1)");
        check("function f(a) { for (;;) return a }");
        check("'use strict'; function f(a) { for (;;) return a }");
        check("\"use strict\"\nfunction f(a) { for (;;) return a }");
        check("'it\\'s \\\\' // é\n/* a */ 'b'\nf()");
        check("#!/usr/bin/env node\nf()");
        check("<!-- old\nf()");
        // Other names.
        check("var $e, $t, $x, $h, $s, $r, $on, $n; f()");
    }

    #[test]
    fn comments_may_be_added_before() {
        for text in instrumented("f()") {
            for before in ["/*! banner */\n", "// banner\r\n", "\u{FEFF}/**/ ", ";\n"] {
                assert!(is_instrumented(&format!("{before}{text}")), "{before}{text}");
            }
        }
    }

    #[test]
    fn only_the_first_statement_counts() {
        for text in instrumented("f()") {
            let quoted = text.replace('"', "\\\"");
            for plain in [
                format!("f();{text}"),
                format!("(()=>{{{text}}})()"),
                format!("/* {text}"),
                format!("// {text}\nf()"),
                format!("\"{quoted}\""),
                format!("x = `{text}`"),
                text.replacen("typeof", "typeof ", 1),
                text.replacen("globalThis", "window", 1),
            ] {
                assert!(!is_instrumented(&plain), "{plain}");
            }
        }
    }

    #[test]
    fn plain_sources_are_plain() {
        for source in [
            "",
            "typeof $",
            "typeof $x==\"undefined\"&&($x=v=>v);f()",
            "typeof $x == \"undefined\" && (g => {})(globalThis);",
            "typeof $on==\"undefined\"&&(globalThis.$on=!1);",
            "'unterminated",
            "/* unterminated",
            "\"a\\",
            "//",
            "#!",
            &"é".repeat(MAX_FALLBACK),
            &format!("typeof $x{}", "é".repeat(MAX_FALLBACK)),
        ] {
            assert!(!is_instrumented(source), "{source}");
        }
    }
}
