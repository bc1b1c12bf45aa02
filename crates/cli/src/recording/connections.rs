//! The connections of the recorded processes.
//!
//! Each process connects when it begins to record, and closes its end when its journals are complete. Nothing is sent.
//! When this process closes its end, even because it was killed, recordings end and the programs go on.

use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::net::sockopt::socket_peercred;

/// How long processes may take to complete their journals. They wait two seconds for their threads.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often to look whether they have.
const POLL: Duration = Duration::from_millis(5);

/// Connections of ended processes are closed when there are this many more.
const PRUNE_AT: usize = 64;

/// The longest path of a socket on Linux.
const MAX_PATH: usize = 107;

/// The socket, and the connections to it. The accepting thread adds connections; it runs until this process ends.
#[derive(Debug)]
pub struct Connections {
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<Connection>,
    /// Whether the recording has ended. Later connections are closed at once, which ends the recordings behind them.
    has_ended: bool,
}

#[derive(Debug)]
struct Connection {
    pid: u32,
    stream: UnixStream,
}

impl Connections {
    /// Listens in the directory of the recording.
    pub fn listen(directory: &Path) -> io::Result<Self> {
        let path = directory.join("connection");
        if path.as_os_str().len() > MAX_PATH {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the path is too long for a socket"));
        }
        let listener = UnixListener::bind(&path)?;
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                accept(stream, &shared);
            }
        });
        Ok(Self { path, state })
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The ids of the processes that still record after `patience`. Processes that are ending need a moment.
    pub fn alive_after(&self, patience: Duration) -> Vec<u32> {
        self.wait(patience);
        self.state.lock().open.iter().map(|connection| connection.pid).collect()
    }

    /// Ends all recordings, and waits until the journals are complete. Returns the processes that do not answer.
    pub fn end(&self) -> Vec<u32> {
        let mut state = self.state.lock();
        state.has_ended = true;
        for Connection { stream, .. } in &state.open {
            // Fails if the process has just ended.
            let _ = stream.shutdown(Shutdown::Write);
        }
        drop(state);
        self.alive_after(PATIENCE)
    }

    fn wait(&self, patience: Duration) {
        let until = Instant::now() + patience;
        loop {
            let mut state = self.state.lock();
            state.open.retain_mut(|connection| !connection.is_closed());
            if state.open.is_empty() || Instant::now() >= until {
                return;
            }
            drop(state);
            thread::sleep(POLL);
        }
    }
}

impl Connection {
    fn is_closed(&mut self) -> bool {
        match self.stream.read(&mut [0]) {
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
            // A recorded process sends nothing.
            Ok(length) => length == 0,
        }
    }
}

fn accept(stream: UnixStream, state: &Mutex<State>) {
    let Ok(credentials) = socket_peercred(&stream) else { return };
    if stream.set_nonblocking(true).is_err() {
        return;
    }
    let State { open, has_ended } = &mut *state.lock();
    if *has_ended {
        return;
    }
    if open.len() % PRUNE_AT == PRUNE_AT - 1 {
        open.retain_mut(|connection| !connection.is_closed());
    }
    let pid = credentials.pid.as_raw_nonzero().get().unsigned_abs();
    open.push(Connection { pid, stream });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_end_from_both_sides() {
        let directory = tempfile::tempdir().unwrap();
        let connections = Connections::listen(directory.path()).unwrap();
        let connect = || UnixStream::connect(connections.path()).unwrap();
        let own = std::process::id();
        // More than are kept of ended processes.
        for _ in 0..3 * PRUNE_AT {
            connect();
        }
        let mut process = connect();
        while connections.alive_after(Duration::ZERO) != [own] {
            thread::sleep(POLL);
        }
        assert!(connections.state.lock().open.len() < PRUNE_AT);
        let ended = thread::spawn(move || process.read(&mut [0]).unwrap());
        assert!(connections.end().is_empty());
        assert_eq!(ended.join().unwrap(), 0);
        // A process that comes too late.
        assert_eq!(connect().read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn processes_that_do_not_answer_are_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let connections = Connections::listen(directory.path()).unwrap();
        let silent = UnixStream::connect(connections.path()).unwrap();
        while connections.alive_after(Duration::ZERO).is_empty() {
            thread::sleep(POLL);
        }
        assert_eq!(connections.end(), [std::process::id()]);
        drop(silent);
    }
}
