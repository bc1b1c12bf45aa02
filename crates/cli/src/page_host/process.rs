//! The page host's process, and the protocol that it speaks.
//!
//! Its stdin is one end of a socket that carries one JSON text per line in both directions; the protocol is described in
//! `packages/page/src/driver/driver-process.cjs`. The process ends when the socket closes, so it never outlives this one.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use parking_lot::Mutex;
use selfprof_webdriver::{CallError, Pages};
use serde_json::{Value, json};

/// The longest line that is read: a trace, or a value returned by a script of a page. A longer one ends the connection.
const MAX_LINE: u64 = 1 << 30;

/// A running page host. Dropping it ends the process.
pub struct PageProcess {
    child: Mutex<Child>,
    socket: Mutex<UnixStream>,
    /// The same socket, so that closing it need not wait for a write in progress.
    closing: UnixStream,
    calls: Arc<Mutex<Calls>>,
}

/// Calls that wait for their responses.
#[derive(Default)]
struct Calls {
    next: u64,
    waiting: HashMap<u64, Sender<Result<Value, CallError>>>,
    has_ended: bool,
}

impl PageProcess {
    /// Runs the script `driver` in Node.js, and calls `on_event` on another thread for every event of a page.
    pub fn spawn(
        node: &Path,
        driver: &Path,
        on_event: impl FnMut(Value) + Send + 'static,
    ) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let child = Command::new(node)
            .arg(driver)
            // Preloads and debuggers are meant for other programs.
            .env_remove("NODE_OPTIONS")
            .env_remove("SELFPROF_RUN")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // Signals of the terminal go to this process only, which then ends the page host.
            .process_group(0)
            .spawn()?;
        let closing = socket.try_clone()?;
        let calls = Arc::<Mutex<Calls>>::default();
        let (reader, shared) = (BufReader::new(socket.try_clone()?), Arc::clone(&calls));
        thread::Builder::new().name("pages".to_owned()).spawn(move || listen(reader, &shared, on_event))?;
        Ok(Self { child: Mutex::new(child), socket: Mutex::new(socket), closing, calls })
    }

    fn send(&self, request: &Value) -> io::Result<()> {
        let mut line = request.to_string();
        line.push('\n');
        self.socket.lock().write_all(line.as_bytes())
    }
}

impl Pages for PageProcess {
    fn call(&self, method: &str, parameters: Value) -> Result<Value, CallError> {
        let (sender, receiver) = channel();
        let id = {
            let mut calls = self.calls.lock();
            if calls.has_ended {
                return Err(gone());
            }
            calls.next += 1;
            let id = calls.next;
            calls.waiting.insert(id, sender);
            id
        };
        // If the process has ended, the listening thread fails every call that waits.
        let _ = self.send(&json!({ "id": id, "method": method, "parameters": parameters }));
        receiver.recv().unwrap_or_else(|_| Err(gone()))
    }

    fn end(&self) {
        // This also ends the listening thread.
        let _ = self.closing.shutdown(Shutdown::Both);
        let mut child = self.child.lock();
        // The process would end by itself, but an endless loop in a page could delay that.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for PageProcess {
    fn drop(&mut self) {
        self.end();
    }
}

fn gone() -> CallError {
    CallError::new("unknown error", "the page host has ended")
}

/// Reads lines until the socket closes.
fn listen(mut reader: impl BufRead, calls: &Mutex<Calls>, mut on_event: impl FnMut(Value)) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(length) if length > 0 && line.ends_with(b"\n") => {}
            _ => break,
        }
        let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { break };
        let Some(id) = message.get("id").and_then(Value::as_u64) else {
            on_event(message);
            continue;
        };
        let response = match message.get("error") {
            Some(error) => Err(call_error(error)),
            None => Ok(message["result"].take()),
        };
        if let Some(sender) = calls.lock().waiting.remove(&id) {
            // The caller may have stopped waiting.
            let _ = sender.send(response);
        }
    }
    let mut calls = calls.lock();
    calls.has_ended = true;
    for (_, sender) in calls.waiting.drain() {
        let _ = sender.send(Err(gone()));
    }
}

fn call_error(error: &Value) -> CallError {
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    CallError { code: text("code"), message: text("message"), stack: text("stack") }
}
