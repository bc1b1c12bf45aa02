//! The connection to `selfprof run`, which lasts as long as it wants a recording. When it closes, even because `selfprof` was
//! killed, the recordings of this process end, and the program goes on.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::signals;

/// Whether no recording is wanted any more. The thread of the connection sets it, JS threads read it.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Connects this process, unless it is connected. Returns whether a recording is wanted.
pub fn connect(path: &Path) -> bool {
    static CONNECTED: Once = Once::new();
    CONNECTED.call_once(|| match UnixStream::connect(path) {
        Ok(stream) => start(stream),
        // The recording has ended, but a child process still had its request.
        Err(_) => CLOSED.store(true, Ordering::Release),
    });
    is_open()
}

/// Whether a recording is wanted.
pub fn is_open() -> bool {
    !CLOSED.load(Ordering::Acquire)
}

/// Watches the connection on a thread, which lives as long as the connection. The thread owns the socket; closing it tells
/// `selfprof run` that the journals are complete.
fn start(mut stream: UnixStream) {
    let watch = move || {
        // Nothing is ever sent, so this returns when the connection closes.
        let _ = stream.read(&mut [0]);
        CLOSED.store(true, Ordering::Release);
        signals::stop_recordings();
        drop(stream);
    };
    // Without the thread, the socket closes at once, and `selfprof run` sees that nothing is recorded.
    if thread::Builder::new().name("selfprof-recorder".into()).spawn(watch).is_err() {
        CLOSED.store(true, Ordering::Release);
    }
}
