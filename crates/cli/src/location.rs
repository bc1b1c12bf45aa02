//! Where a function is defined, as briefly as it stays clear.

use std::path::Path;

use selfprof_trace::{Frame, Trace};

/// The function's name for people: anonymous functions have one too, and nothing in it moves the cursor.
pub fn function_name(trace: &Trace, frame: &Frame) -> String {
    match &trace.names()[frame.name] {
        "" => "(anonymous)".to_owned(),
        name => printable(name),
    }
}

/// The function's place: `script:line:column`, or `(native)` for host functions, which have none.
///
/// Scripts in or below the directory `base` are named relative to it.
pub fn location(trace: &Trace, frame: &Frame, base: &Path) -> String {
    let Some(resource) = frame.resource else {
        return "(native)".to_owned();
    };
    let mut text = script(&trace.resources()[resource], base);
    for number in [frame.line, frame.line.and(frame.column)].into_iter().flatten() {
        text += &format!(":{number}");
    }
    text
}

/// A script's name for people: relative to the directory `base` if it is below.
pub fn script(url: &str, base: &Path) -> String {
    printable(&short_url(url, base))
}

/// The path that a `file:` URL of this machine means.
pub fn local_path(url: &str) -> Option<String> {
    url.strip_prefix("file://").filter(|path| path.starts_with('/')).map(percent_decoded)
}

/// The path of a `file:` URL, relative to `base` if it is below; other URLs and paths likewise.
fn short_url(url: &str, base: &Path) -> String {
    let path = local_path(url).unwrap_or_else(|| url.to_owned());
    match Path::new(&path).strip_prefix(base) {
        Ok(relative) => relative.to_string_lossy().into_owned(),
        Err(_) => path,
    }
}

/// Replaces `%20` and its like by what they stand for.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%').then(|| after.split_at_checked(2)).flatten();
        let decoded = escaped.and_then(|(digits, after)| {
            let digits = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
            Some((u8::from_str_radix(digits, 16).ok()?, after))
        });
        let (byte, after) = decoded.unwrap_or((byte, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Names and URLs come from the profiled program, and a terminal obeys control characters.
pub fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{FFFD}")
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
    fn control_characters_are_not_passed_on() {
        assert_eq!(printable("a\x1b[31mb\nc"), "a\u{FFFD}[31mb\u{FFFD}c");
    }
}
