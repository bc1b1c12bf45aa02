//! Names and locations of functions and scripts, as people read them.

use std::path::Path;

use selfprof_trace::{Frame, FrameId, Trace, local_path};

use crate::inferred_names::{InferredNames, MARK};

/// At most this much of a command line is shown, in characters.
const MAX_COMMAND_LENGTH: usize = 80;

/// Stands for the script of functions that have none.
const NATIVE: &str = "(native)";

/// Stands for the script of traced functions that the table of functions does not have: native functions are not
/// traced.
const UNKNOWN: &str = "(unknown)";

/// What stands for the script of functions that have none in a trace.
pub fn without_script(trace: &Trace) -> &'static str {
    if trace.calls().is_some() { UNKNOWN } else { NATIVE }
}

/// Stands for the name of functions that have none.
pub const ANONYMOUS: &str = "(anonymous)";

/// The function's name without control characters, or its inferred name with a mark, or `(anonymous)`.
pub fn function_name(trace: &Trace, id: FrameId, inferred: &InferredNames) -> String {
    match (&trace.names()[trace.frames()[id].name], inferred.get(&id)) {
        ("", Some(name)) => format!("{}{MARK}", printable(name)),
        ("", None) => ANONYMOUS.to_owned(),
        (name, _) => printable(name),
    }
}

/// The function's location: `script:line:column`, `(native)` or `(unknown)` for a function without a script, or nothing
/// for the garbage collector and for waiting.
///
/// Paths below the directory `base` are shown relative to it.
pub fn location(trace: &Trace, frame: FrameId, base: &Path) -> String {
    let Frame { resource, line, column, .. } = trace.frames()[frame];
    let Some(resource) = resource else {
        return match trace.is_gc(frame) || trace.is_waiting(frame) {
            true => String::new(),
            false => without_script(trace).to_owned(),
        };
    };
    let mut text = script(&trace.resources()[resource], base);
    for number in [line, line.and(column)].into_iter().flatten() {
        text += &format!(":{number}");
    }
    text
}

/// A script's URL or path, relative to the directory `base` if it is below.
pub fn script(url: &str, base: &Path) -> String {
    printable(&short_url(url, base))
}

/// A command line for a table: without the directory `base` in paths, and not too long.
pub fn short_command(command: &str, base: &Path) -> String {
    // An unknown directory is empty.
    let prefix = format!("{}/", base.display());
    let text = if prefix == "/" { printable(command) } else { printable(&command.replace(&prefix, "")) };
    match text.char_indices().nth(MAX_COMMAND_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Turns a `file:` URL into a path, and makes any path below `base` relative to it.
fn short_url(url: &str, base: &Path) -> String {
    let path = local_path(url).unwrap_or(url.into());
    match Path::new(&*path).strip_prefix(base) {
        Ok(relative) => relative.to_string_lossy().into_owned(),
        Err(_) => path.into_owned(),
    }
}

/// Replaces characters that a terminal would obey: names and URLs come from the profiled program. These are control
/// characters, and those that change the direction of the text around them, so that it reads differently
/// ([Trojan Source](https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing)).
pub fn printable(text: &str) -> String {
    let is_obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    text.replace(is_obeyed, "\u{FFFD}")
}

/// A word that a shell reads as this text.
pub fn quoted(text: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./=:,@%+".contains(char);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shortened() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            assert_eq!(short_url(url, Path::new("/home/me")), expected);
        }
        check("file:///home/me/src/a.js", "src/a.js");
        check("file:///home/me/a%20b%C3%BC.js", "a bü.js");
        check("file:///home/me/100%.js", "100%.js");
        check("file:///home/me/%+1%zz%4", "%+1%zz%4");
        check("file:///opt/a.js", "/opt/a.js");
        check("file:///home/mercury/a.js", "/home/mercury/a.js");
        check("/home/me/a.cjs", "a.cjs");
        check("file://server/share/a.js", "file://server/share/a.js");
        check("https://example.com/a%20b.js", "https://example.com/a%20b.js");
        check("node:fs", "node:fs");
        check("", "");
    }

    #[test]
    fn commands_are_shortened() {
        #[track_caller]
        fn check(command: &str, base: &str, expected: &str) {
            assert_eq!(short_command(command, Path::new(base)), expected);
        }
        check("node /a/b.js /a/c /ab", "/a", "node b.js c /ab");
        check("node /a/b.js", "", "node /a/b.js");
        check("node \x1b", "/a", "node \u{FFFD}");
        check(&"é".repeat(81), "/a", &format!("{}…", "é".repeat(80)));
    }

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(printable("a\x1b[31mb\nc"), "a\u{FFFD}[31mb\u{FFFD}c");
        for hidden in "\u{61C}\u{200E}\u{200F}\u{2028}\u{2029}\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}".chars() {
            assert_eq!(printable(&format!("a{hidden}b")), "a\u{FFFD}b", "U+{:04X}", u32::from(hidden));
        }
        // Letters of any direction, and what joins them, are as they are.
        assert_eq!(printable("a שלום می\u{200C}خواهم 👩\u{200D}💻"), "a שלום می\u{200C}خواهم 👩\u{200D}💻");
    }
}
