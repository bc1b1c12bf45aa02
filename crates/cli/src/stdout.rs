//! Data for whoever reads the other end of stdout.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use crate::failure::Failure;

/// Has `write` write to stdout. That nobody reads it any more is no failure.
pub fn write(
    write: impl FnOnce(&mut BufWriter<io::StdoutLock<'_>>) -> io::Result<()>,
) -> Result<ExitCode, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        // Whoever read the other end has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::job("cannot write to stdout").because(&error)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}
