//! The texts of files.

use std::fs;
use std::path::Path;

use crate::error::SiteError;
use crate::summary::{Reason, Refusal};

/// Larger files are copied unchanged: the tree of a script takes many times its size.
pub const MAX_BYTES: u64 = 64 << 20;

/// The text of a file. The outer result is that of reading, the inner one tells why it is not instrumented.
pub fn read(path: &Path) -> Result<Result<String, Refusal>, SiteError> {
    let failed = |error| SiteError::Read(path.to_owned(), error);
    let length = fs::metadata(path).map_err(failed)?.len();
    if length > MAX_BYTES {
        return Ok(Err((
            Reason::TooLarge,
            format!("{} MB of at most {}", length / 1_000_000, MAX_BYTES / 1_000_000),
        )));
    }
    let bytes = fs::read(path).map_err(failed)?;
    Ok(String::from_utf8(bytes)
        .map_err(|error| (Reason::Encoding, format!("at byte {}", error.utf8_error().valid_up_to()))))
}

/// The byte order mark, if there is one, and the text behind it, which is what browsers count positions in.
pub fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{FEFF}') { 3 } else { 0 })
}
