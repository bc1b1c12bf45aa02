//! The connection to `selfprof run` or `selfprof attach`, which lasts as long as it wants a recording. When it closes,
//! even because `selfprof` was killed, the recordings of this process end, and the program goes on.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::own_thread;
use crate::signals;

/// The connection of this process, or its last one. JS threads add it.
static CURRENT: Mutex<Option<Connection>> = Mutex::new(None);

/// A connection to a recorder.
#[derive(Clone)]
pub struct Connection {
    path: PathBuf,
    /// Set by the thread of the connection, read by JS threads.
    is_closed: Arc<AtomicBool>,
}

/// Another recorder records this process.
#[derive(Debug)]
pub struct Occupied;

impl Connection {
    /// Whether a recording is wanted.
    pub fn is_open(&self) -> bool {
        !self.is_closed.load(Ordering::Acquire)
    }

    /// Whether no recording is wanted any more, as it changes.
    pub fn is_closed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_closed)
    }
}

/// Connects this process, unless it is connected to this socket, or was.
///
/// # Errors
/// When the process is connected to another one.
pub fn connect(path: &Path) -> Result<Connection, Occupied> {
    let mut current = CURRENT.lock();
    match &*current {
        // The path of each recording is its own.
        Some(connection) if connection.path == path => return Ok(connection.clone()),
        Some(connection) if connection.is_open() => return Err(Occupied),
        _ => {}
    }
    let connection = Connection { path: path.to_owned(), is_closed: Arc::default() };
    match UnixStream::connect(path) {
        Ok(stream) => start(stream, &connection.is_closed),
        // The recording has ended, but a child process still had its request.
        Err(_) => connection.is_closed.store(true, Ordering::Release),
    }
    Ok(current.insert(connection).clone())
}

/// Watches the connection on a thread, which lives as long as the connection. The thread owns the socket; closing it
/// tells `selfprof` that the journals are complete.
fn start(mut stream: UnixStream, is_closed: &Arc<AtomicBool>) {
    let closed = Arc::clone(is_closed);
    let watch = move || {
        // Nothing is ever sent, so this returns when the connection closes. It goes on when it was interrupted.
        let _ = stream.read_exact(&mut [0]);
        closed.store(true, Ordering::Release);
        signals::stop_recordings();
        drop(stream);
    };
    // Without the thread, the socket closes at once, and `selfprof` sees that nothing is recorded.
    if own_thread::start("selfprof-recorder", watch).is_err() {
        is_closed.store(true, Ordering::Release);
    }
}
