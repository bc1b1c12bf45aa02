//! The program that hosts pages: Node with the npm package's driver, which `selfprof page` and `selfprof webdriver` start
//! and talk to.
//!
//! Its standard input is one end of a socket, and each line on it a JSON text: see `npm/lib/page/driver/main.cjs`. The
//! program ends when the socket closes, so it never outlives this process, however that ends.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use selfprof_webdriver::{CallError, Pages};
use serde_json::{Value, json};

use crate::addon;
use crate::arguments::HostArguments;
use crate::failure::Failure;
use crate::node::Node;
use crate::package::Package;

/// How long a line may be: a trace, or a value that a page's script gave. More is not read, and ends the program.
const MAX_LINE: u64 = 1 << 30;

/// jsdom 31's own demand: of these majors the first minor and patch, and all later majors.
const NODES: [(u32, (u32, u32)); 2] = [(22, (22, 2)), (24, (15, 0))];
const FIRST_MAJOR_WITHOUT_LIMIT: u32 = 26;

/// What pages are hosted with.
#[derive(Debug)]
pub struct Hosting {
    node: Node,
    package: Package,
    /// `jsdom` of the host's options.
    jsdom: Option<String>,
}

impl Hosting {
    /// Finds Node, the npm package and its addon. Fails when pages cannot be hosted with them.
    pub fn find(arguments: &HostArguments) -> Result<Self, Failure> {
        let node = Node::find(arguments.node.as_deref())?;
        check_node(&node)?;
        let package = Package::find()?;
        addon::check(&package, &node)?;
        let jsdom = arguments.jsdom.as_ref().map(|path| path.to_string_lossy().into_owned());
        Ok(Self { node, package, jsdom })
    }

    /// Starts the program and has it find jsdom. What happens in pages is told to `on_event`, on another thread.
    pub fn start(
        &self,
        mut options: Value,
        on_event: impl FnMut(Value) + Send + 'static,
    ) -> Result<PageProcess, Failure> {
        let process = PageProcess::spawn(&self.node, &self.package, on_event)
            .map_err(|error| Failure::job("cannot start the page host").because(&error))?;
        if let Some(jsdom) = &self.jsdom {
            options["jsdom"] = jsdom.as_str().into();
        }
        process.call("start", options).map_err(|error| spoken(&error.message))?;
        Ok(process)
    }
}

/// What the host says for people to read: with its own name, and with a hint.
fn spoken(message: &str) -> Failure {
    let message = message.trim_start_matches("selfprof/page: ");
    match message.split_once("\n\nhint: ") {
        Some((message, hint)) => {
            Failure::job(message).hint(format!("{hint}; `--jsdom PATH` names one that is elsewhere"))
        }
        None => Failure::job(message),
    }
}

fn check_node(node: &Node) -> Result<(), Failure> {
    let mut numbers = node.version.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let (major, version) = (next(), (next(), next()));
    let has_pages = major >= FIRST_MAJOR_WITHOUT_LIMIT
        || NODES.iter().any(|&(known, first)| known == major && version >= first);
    if has_pages {
        return Ok(());
    }
    Err(Failure::job(format!(
        "pages need Node 22.22.2 or newer, 24.15 or newer, or 26, for jsdom does; {} is {}",
        node.program.display(),
        node.version
    ))
    .hint("name another one with --node PATH or SELFPROF_NODE; `npx node@24 -p process.execPath` fetches one and says where it is"))
}

/// A program that hosts pages. It ends when this is dropped.
pub struct PageProcess {
    child: Mutex<Child>,
    socket: Mutex<UnixStream>,
    /// The same, for who must not wait for somebody that writes.
    closing: UnixStream,
    calls: Arc<Mutex<Calls>>,
}

/// Calls that wait for their answers.
#[derive(Default)]
struct Calls {
    next: u64,
    waiting: HashMap<u64, Sender<Result<Value, CallError>>>,
    has_ended: bool,
}

impl PageProcess {
    fn spawn(
        node: &Node,
        package: &Package,
        on_event: impl FnMut(Value) + Send + 'static,
    ) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let child = Command::new(&node.program)
            .arg(package.page_driver())
            // Preloads and debuggers are for other programs.
            .env_remove("NODE_OPTIONS")
            .env_remove("SELFPROF_RUN")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // A terminal's signals are for this process, which ends the other in order.
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
        lock(&self.socket).write_all(line.as_bytes())
    }
}

impl Pages for PageProcess {
    fn call(&self, method: &str, parameters: Value) -> Result<Value, CallError> {
        let (sender, receiver) = channel();
        let id = {
            let mut calls = lock(&self.calls);
            if calls.has_ended {
                return Err(gone());
            }
            calls.next += 1;
            let id = calls.next;
            calls.waiting.insert(id, sender);
            id
        };
        // When the program is not there any more, the listening thread says so to all who wait.
        let _ = self.send(&json!({ "id": id, "method": method, "parameters": parameters }));
        receiver.recv().unwrap_or_else(|_| Err(gone()))
    }

    fn end(&self) {
        // Closed for the listening thread, too.
        let _ = self.closing.shutdown(Shutdown::Both);
        let mut child = lock(&self.child);
        // It would end by itself; but a thread of a page that is in an endless loop could take its time.
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

/// Reads lines until there are no more.
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
        let answer = match message.get("error") {
            Some(error) => Err(call_error(error)),
            None => Ok(message["result"].take()),
        };
        if let Some(sender) = lock(calls).waiting.remove(&id) {
            // Whoever waited may have gone.
            let _ = sender.send(answer);
        }
    }
    let mut calls = lock(calls);
    calls.has_ended = true;
    for (_, sender) in calls.waiting.drain() {
        let _ = sender.send(Err(gone()));
    }
}

fn call_error(error: &Value) -> CallError {
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    CallError { code: text("code"), message: text("message"), stack: text("stack") }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
