//! URLs in the place of files, and in messages.

use std::path::Path;

use selfprof_http::Url;

use crate::failure::Failure;
use crate::terminal::names::printable;

/// Longer URLs are cut in messages.
const MAX_SHOWN: usize = 300;

/// Whether a path on the command line is a URL.
pub fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| ["http", "https"].contains(&&*scheme))
}

/// The URL that stands in the place of a file; `None` for a file.
pub fn of_argument(path: &Path) -> Result<Option<Url>, Failure> {
    if !is_url(path) {
        return Ok(None);
    }
    let text = path.to_string_lossy();
    let not_valid = |error| Failure::usage(format!("{text} is not a URL")).because(&error);
    Url::parse(&text).map(Some).map_err(not_valid)
}

/// A URL without what may be secret: its user, its password and its query.
pub fn shown(url: &Url) -> String {
    let text = format!("{}{}", url.origin().ascii_serialization(), url.path());
    printable(&text).chars().take(MAX_SHOWN).collect()
}
