//! Where the bytes of a profile go: through a buffer, and through gzip when asked for.

use std::io::{self, BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::WriteOptions;

/// Bytes of output that are gathered before they go on.
const BUFFER: usize = 1 << 16;

/// What writers write to: one buffer in front of whatever takes the bytes, so that small writes are cheap.
pub(crate) type Out<'out> = BufWriter<&'out mut dyn Write>;

/// Has `write` write, and flushes at the end.
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
