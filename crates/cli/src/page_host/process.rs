//! The page host's process, and the protocol that it speaks.
//!
//! Its stdin is one end of a socket that carries one JSON text per line in both directions; the protocol is described
//! in `packages/page/src/host/driver-process.cjs`. The process ends when the socket closes, so it never outlives this
//! one.

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

use crate::terminal::messages::say;
use crate::terminal::names::printable;

use super::memory;

/// The longest line that is read: a trace, or a value returned by a script of a page.
const MAX_LINE: u64 = 1 << 30;

/// The longest line of Node's that is printed.
const MAX_PRINTED: u64 = 1 << 16;

/// How the message begins that says how much memory the process may take.
pub const TOO_LARGE: &str = "the pages took more than ";

/// A running page host. Dropping it ends the process.
pub struct PageProcess {
    child: Arc<Mutex<Child>>,
    socket: Mutex<UnixStream>,
    /// The same socket, so that closing it need not wait for a write in progress.
    closing: UnixStream,
    calls: Arc<Mutex<Calls>>,
    /// Closes when this is dropped.
    _watching: Sender<()>,
}

/// Calls that wait for their responses.
#[derive(Default)]
struct Calls {
    next: u64,
    waiting: HashMap<u64, Sender<Result<Value, CallError>>>,
    has_ended: bool,
    /// Why the process was ended from here.
    reason: Option<String>,
}

impl PageProcess {
    /// Runs the script `driver` in Node.js, and calls `on_event` on another thread for every event of a page. The
    /// process is ended when it takes more than `memory_limit` bytes.
    pub fn spawn(
        node: &Path,
        driver: &Path,
        memory_limit: u64,
        on_event: impl FnMut(Value) + Send + 'static,
    ) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut child = Command::new(node)
            .arg(driver)
            // Preloads and debuggers are meant for other programs.
            .env_remove("NODE_OPTIONS")
            .env_remove("SELFPROF_RUN")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // Node makes pipes that it has as stdout and stderr non-blocking, for whoever shares them.
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Signals of the terminal go to this process only, which then ends the page host.
            .process_group(0)
            .spawn()?;
        if let Some(stderr) = child.stderr.take() {
            thread::Builder::new().name("page stderr".to_owned()).spawn(move || forward(stderr))?;
        }
        let closing = socket.try_clone()?;
        let calls = Arc::<Mutex<Calls>>::default();
        let (reader, shared) = (BufReader::new(socket.try_clone()?), Arc::clone(&calls));
        thread::Builder::new()
            .name("pages".to_owned())
            .spawn(move || listen(reader, MAX_LINE, &shared, on_event))?;
        let child = Arc::new(Mutex::new(child));
        let (watching, stop) = channel();
        let (watched, shared) = (Arc::clone(&child), Arc::clone(&calls));
        let exceeded = move || {
            let megabytes = memory_limit >> 20;
            shared.lock().reason = Some(format!("{TOO_LARGE}{megabytes} MB of memory"));
        };
        thread::Builder::new()
            .name("page memory".to_owned())
            .spawn(move || memory::watch(&watched, memory_limit, &stop, exceeded))?;
        Ok(Self { child, socket: Mutex::new(socket), closing, calls, _watching: watching })
    }

    /// Why the process has ended, if it has.
    pub fn failure(&self) -> Option<CallError> {
        let calls = self.calls.lock();
        calls.has_ended.then(|| gone(&calls))
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
                return Err(gone(&calls));
            }
            calls.next += 1;
            let id = calls.next;
            calls.waiting.insert(id, sender);
            id
        };
        // If the process has ended, the listening thread fails every call that waits.
        let _ = self.send(&json!({ "id": id, "method": method, "parameters": parameters }));
        receiver.recv().unwrap_or_else(|_| Err(gone(&self.calls.lock())))
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

/// Prints what Node prints, such as why V8 has ended a page.
fn forward(stderr: impl Read) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    while let Some(is_whole) = read_line(&mut reader, MAX_PRINTED, &mut line) {
        if is_whole {
            say(printable(String::from_utf8_lossy(&line).trim_end_matches('\n')));
        }
    }
}

fn gone(calls: &Calls) -> CallError {
    CallError::new("unknown error", calls.reason.as_deref().unwrap_or("the page host has ended"))
}

/// Reads lines until the socket closes. A page can return what JSON cannot say here, such as half of a character: the
/// call fails then, and the next line is read.
fn listen(mut reader: impl BufRead, max_line: u64, calls: &Mutex<Calls>, mut on_event: impl FnMut(Value)) {
    let mut line = Vec::new();
    while let Some(is_whole) = read_line(&mut reader, max_line, &mut line) {
        let message = is_whole.then(|| serde_json::from_slice::<Value>(&line).ok()).flatten();
        let (id, response) = match message {
            Some(mut message) => {
                let Some(id) = message.get("id").and_then(Value::as_u64) else {
                    on_event(message);
                    continue;
                };
                let error = message.get("error").map(call_error);
                (id, error.map_or_else(|| Ok(message["result"].take()), Err))
            }
            None => {
                let Some(id) = answered_call(&line) else { continue };
                (id, Err(CallError::new("unknown error", "the page host's answer cannot be read")))
            }
        };
        if let Some(sender) = calls.lock().waiting.remove(&id) {
            // The caller may have stopped waiting.
            let _ = sender.send(response);
        }
    }
    let mut calls = calls.lock();
    calls.has_ended = true;
    let waiting = std::mem::take(&mut calls.waiting);
    for sender in waiting.into_values() {
        let _ = sender.send(Err(gone(&calls)));
    }
}

/// Reads a line. Of one that is too long, the beginning is read and the rest is skipped.
///
/// Returns whether the whole line was read, or `None` at the end.
fn read_line(reader: &mut impl BufRead, max_line: u64, line: &mut Vec<u8>) -> Option<bool> {
    line.clear();
    line.shrink_to(1 << 20);
    reader.by_ref().take(max_line).read_until(b'\n', line).ok()?;
    if line.ends_with(b"\n") {
        return Some(true);
    }
    if (line.len() as u64) < max_line {
        return None;
    }
    reader.skip_until(b'\n').ok()?;
    Some(false)
}

/// The call that a line answers, when the line is not valid JSON as a whole: the page host writes the id first.
fn answered_call(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(br#"{"id":"#)?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

fn call_error(error: &Value) -> CallError {
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    CallError { code: text("code"), message: text("message"), stack: text("stack") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads lines, some of which answer the calls 1 and 2. Returns the answers and the number of events.
    fn check(lines: &str, max_line: u64) -> ([Result<Value, String>; 2], usize) {
        let calls = Mutex::new(Calls::default());
        let (first, one) = channel();
        let (second, two) = channel();
        calls.lock().waiting.extend([(1, first), (2, second)]);
        let mut events = 0;
        listen(lines.as_bytes(), max_line, &calls, |_| events += 1);
        let answers = [one, two].map(|answer| answer.recv().unwrap().map_err(|error| error.message));
        (answers, events)
    }

    #[test]
    fn a_line_that_cannot_be_read_costs_that_line() {
        let unreadable = || Err("the page host's answer cannot be read".to_owned());
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        let long = "x".repeat(300);
        for bad in [r#""\ud800""#, &deep, &format!("\"{long}\""), "\u{1}", "nonsense"] {
            let lines = format!(
                "{{\"event\":\"console\"}}\n{{\"event\":{bad}}}\n{{\"id\":1,\"result\":{bad}}}\n{{\"id\":2,\"result\":5}}\n{{\"event\":1}}\n"
            );
            assert_eq!(check(&lines, 200), ([unreadable(), Ok(json!(5))], 2), "{bad}");
        }
    }

    #[test]
    fn calls_fail_when_the_lines_end() {
        let ended = || Err("the page host has ended".to_owned());
        for lines in ["", "\n", "{\"id\":1,\"result\":", "{\"id\":99999999999999999999999,\"result\":1}x\n"] {
            assert_eq!(check(lines, 200), ([ended(), ended()], 0), "{lines}");
        }
    }
}
