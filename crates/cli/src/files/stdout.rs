//! Writing data to stdout.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use crate::failure::Failure;

/// Calls `write` with a buffered stdout. A closed pipe is not a failure.
pub fn write(
    write: impl FnOnce(&mut BufWriter<io::StdoutLock<'_>>) -> io::Result<()>,
) -> Result<ExitCode, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        // The reader, e.g. `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::job("cannot write to stdout").because(&error)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}
