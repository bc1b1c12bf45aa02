//! Profiles of `v8.startCpuProfile()`: Node.js 24 writes names of functions as they are, without escaping them. A
//! regular expression with a quote or a backslash in it, whose text is the name of its function, makes the file invalid
//! JSON.

/// What comes before a name in such a file.
const BEFORE: &str = "\"functionName\":\"";

/// What comes after a name: Node.js writes the members of a call frame in this order.
const AFTER: &str = "\",\"lineNumber\":";

/// The same text with the names of functions escaped; `None` if it is not such a file.
pub fn escape_names(text: &[u8]) -> Option<String> {
    let mut parts = std::str::from_utf8(text).ok()?.split(BEFORE);
    let mut escaped = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once(AFTER)?;
        let quoted = serde_json::to_string(name).ok()?;
        escaped.push_str(BEFORE);
        escaped.push_str(quoted.get(1..quoted.len() - 1)?);
        escaped.push_str(AFTER);
        escaped.push_str(rest);
    }
    Some(escaped)
}
