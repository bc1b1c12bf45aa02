//! Paths as URLs.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};

/// What is encoded in the paths of URLs: the [path percent-encode
/// set](https://url.spec.whatwg.org/#path-percent-encode-set), and `%`.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'%');

/// A relative path as a URL.
pub fn url_of(path: &Path) -> String {
    percent_encode(path.as_os_str().as_bytes(), PATH).to_string()
}

/// The path that a URL's path leads to from a folder: decoded, without `.` and `..`; `None` if it leads out.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(decoded.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether a URL has a scheme or a host.
pub fn has_host(url: &str) -> bool {
    let scheme = url.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
    url.starts_with("//") || url.starts_with('\\') || scheme.is_some_and(|end| url[end..].starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded_as_in_urls() {
        assert_eq!(url_of(Path::new("a b/é#?%.js")), "a%20b/%C3%A9%23%3F%25.js");
    }
}
