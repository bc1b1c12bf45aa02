//! `file:` URLs of scripts.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The path of a `file:` URL without a host.
pub fn local_path(url: &str) -> Option<Cow<'_, str>> {
    let path = url.strip_prefix("file://").filter(|path| path.starts_with('/'))?;
    Some(percent_decode_str(path).decode_utf8_lossy())
}
