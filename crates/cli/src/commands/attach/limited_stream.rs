//! A connection whose operations all end before a point in time, however slowly the other side sends.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_tcp_quickack;

/// A connection with a deadline.
#[derive(Debug)]
pub struct LimitedStream {
    stream: TcpStream,
    deadline: Instant,
}

impl LimitedStream {
    /// Connects before the deadline, which also applies to what follows.
    pub fn connect(address: SocketAddr, deadline: Instant) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, left(deadline)?)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, deadline })
    }

    /// Sets another deadline.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }
}

impl Read for LimitedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(left(self.deadline)?))?;
        // The process stands still while its inspector closes, which waits for the acknowledgement of what it has sent.
        let _ = set_tcp_quickack(&self.stream, true);
        self.stream.read(buffer).map_err(timed_out)
    }
}

impl Write for LimitedStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(left(self.deadline)?))?;
        self.stream.write(buffer).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The time that is left, which is not zero.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A timeout of a socket looks as if it did not block.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}
