//! Writing a profile's bytes, buffered and optionally gzipped.

use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::options::WriteOptions;

/// The size of the buffer in bytes.
const BUFFER: usize = 1 << 16;

/// A buffered output, which makes small writes cheap.
pub(crate) type Out<'out> = BufWriter<&'out mut dyn Write>;

/// Calls `write` with a buffered output, and flushes it.
pub(crate) fn write<E: From<io::Error>>(
    mut out: impl Write,
    options: WriteOptions,
    write: impl FnOnce(&mut Out<'_>) -> Result<(), E>,
) -> Result<(), E> {
    if options.gzip {
        let mut gzip = GzEncoder::new(BufWriter::new(out), Compression::default());
        buffered(&mut gzip, write)?;
        gzip.finish()?.flush()?;
        Ok(())
    } else {
        buffered(&mut out, write)
    }
}

fn buffered<E: From<io::Error>>(
    out: &mut dyn Write,
    write: impl FnOnce(&mut Out<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    write(&mut out)?;
    Ok(out.flush()?)
}
