//! The little that is needed to write JSON as a stream.

use std::io::{self, Write};

/// Writes `before`, then the items with commas between them.
pub(crate) fn list<W: Write, T>(
    out: &mut W,
    before: &str,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut W, T) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write(out, item)?;
    }
    Ok(())
}

/// Writes a string with its quotes and escapes.
pub(crate) fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(out, text)?)
}
