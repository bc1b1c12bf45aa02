//! Opening the inspector of a running Node.js process, and closing it again.

use std::collections::BTreeSet;
use std::env;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::protocol::{self, Session};
use super::sockets::{self, Socket, State};
use super::target::Target;
use crate::failure::Failure;
use crate::recording::command_line;
use crate::terminal::messages::warn;
use crate::terminal::names::short_command;

/// How long the inspector may take to open. It needs a turn of the event loop, or an instruction of JavaScript.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a server may take to say that it is an inspector, which answers on a thread of its own.
const ANSWER_PATIENCE: Duration = Duration::from_millis(500);
/// How long it may take to close.
const CLOSE_PATIENCE: Duration = Duration::from_secs(2);
/// How often to look for it.
const POLL: Duration = Duration::from_millis(5);
/// As an option of Node.js, it stands for any free port.
const ANY_PORT: u16 = 0;
/// The port that Node.js uses by default.
const DEFAULT_PORT: u16 = 9229;

/// What Node.js's inspector runs to close itself.
const CLOSE: &str = "(process.getBuiltinModule?.('node:inspector') ?? require('node:inspector')).close()";

/// An open inspector.
#[derive(Debug)]
pub struct Inspector {
    address: SocketAddr,
    program: String,
    was_open: bool,
}

impl Inspector {
    /// Opens the inspector of a process, unless it is open.
    pub fn open(target: &Target) -> Result<Self, Failure> {
        let port = port(target.options());
        if let Some(inspector) = Self::find_open(target, port) {
            return inspector.without_debugger(target);
        }
        let until = Instant::now() + PATIENCE;
        let sockets = sockets::of_network(&target.folder());
        let mut known: BTreeSet<u64> = listening(&sockets).map(|socket| socket.inode).collect();
        let (mut is_sent, mut occupant) = (false, None);
        target.check_signal()?;
        while Instant::now() < until {
            target.check_alive()?;
            let sockets = sockets::of_network(&target.folder());
            let new: Vec<&Socket> =
                listening(&sockets).filter(|socket| !known.contains(&socket.inode)).collect();
            let is_at_port = |socket: &Socket| socket.address.port() == port;
            // Read after the list, so that a socket which the process has just opened is in it.
            let is_own_needed = !new.is_empty() || listening(&sockets).any(is_at_port);
            let own = if is_own_needed { sockets::of_process(&target.folder()) } else { BTreeSet::new() };
            for socket in new.iter().filter(|socket| own.contains(&socket.inode)) {
                if let Some(inspector) = Self::at(socket.address, until, false) {
                    return Ok(inspector);
                }
                // The program opened a server.
                known.insert(socket.inode);
            }
            // Another process may have opened its inspector first; this one's then did not open.
            let is_other = |socket: &Socket| is_at_port(socket) && !own.contains(&socket.inode);
            occupant = listening(&sockets).find(|socket| port != ANY_PORT && is_other(socket)).copied();
            if occupant.is_some() {
                is_sent = false;
            } else if !is_sent {
                target.send_signal()?;
                is_sent = true;
            }
            thread::sleep(POLL);
        }
        // The signal does nothing if the program has opened its inspector itself. This comes last because a server of
        // the program may get a request that it does not expect.
        if let Some(inspector) = Self::find_open(target, ANY_PORT) {
            return inspector.without_debugger(target);
        }
        Err(match occupant {
            Some(socket) => occupied(target, &socket),
            None => not_opened(target),
        })
    }

    /// The inspector that is open at a port because the process was started with `--inspect`, has got SIGUSR1 before,
    /// or opened it itself.
    fn find_open(target: &Target, port: u16) -> Option<Self> {
        let sockets = sockets::of_network(&target.folder());
        let own = sockets::of_process(&target.folder());
        let until = Instant::now() + PATIENCE;
        listening(&sockets)
            .filter(|socket| [ANY_PORT, socket.address.port()].contains(&port) && own.contains(&socket.inode))
            .find_map(|socket| Self::at(socket.address, until, true))
    }

    /// The inspector that listens at this address, if one does.
    fn at(address: SocketAddr, until: Instant, was_open: bool) -> Option<Self> {
        let address = SocketAddr::new(loopback(address.ip())?, address.port());
        let until = until.min(Instant::now() + ANSWER_PATIENCE);
        let program = protocol::find_program(address, until).ok()?;
        Some(Self { address, program, was_open })
    }

    /// Fails if a debugger is connected: the process may be paused, and someone is at work.
    fn without_debugger(self, target: &Target) -> Result<Self, Failure> {
        let own = sockets::of_process(&target.folder());
        let is_debugger = |socket: &Socket| {
            socket.state == State::Connected
                && socket.address.port() == self.address.port()
                && own.contains(&socket.inode)
        };
        if sockets::of_network(&target.folder()).iter().any(is_debugger) {
            return Err(Failure::job(format!("a debugger is attached to process {}", target.pid()))
                .hint(format!("disconnect what is connected to port {}", self.address.port())));
        }
        Ok(self)
    }

    /// Connects to it.
    pub fn connect(&self, deadline: Instant) -> std::io::Result<Session> {
        Session::connect(self.address, &self.program, deadline)
    }

    /// Closes it, unless it was open before. Without a session, connects once more.
    pub fn close(&self, session: Option<Session>, target: &Target) {
        if !self.try_close(session, Instant::now() + CLOSE_PATIENCE) && target.check_alive().is_ok() {
            let Self { address, .. } = self;
            warn(format_args!("the inspector of process {} may still be open at {address}", target.pid()));
        }
    }

    /// Returns whether it is as it was before.
    fn try_close(&self, session: Option<Session>, until: Instant) -> bool {
        if self.was_open {
            if let Some(session) = session {
                session.close(until);
            }
            return true;
        }
        let parameters = json!({ "expression": CLOSE, "includeCommandLineAPI": true, "silent": true });
        session
            .map_or_else(|| self.connect(until), Ok)
            .and_then(|mut session| {
                session.send("Runtime.evaluate", parameters, until)?;
                session.wait_for_close(until)
            })
            .is_ok()
    }
}

/// The listening sockets that can be reached through the loopback interface.
fn listening(sockets: &[Socket]) -> impl Iterator<Item = &Socket> {
    sockets
        .iter()
        .filter(|socket| socket.state == State::Listening && loopback(socket.address.ip()).is_some())
}

/// The loopback address for a server that listens at this address.
fn loopback(address: IpAddr) -> Option<IpAddr> {
    match address {
        address if address.is_loopback() => Some(address),
        IpAddr::V4(address) if address.is_unspecified() => Some(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(address) if address.is_unspecified() => Some(Ipv6Addr::LOCALHOST.into()),
        _ => None,
    }
}

/// The port of the inspector according to options of Node.js: `--inspect=[HOST:]PORT` and the like.
fn port<'a>(options: impl Iterator<Item = &'a str>) -> u16 {
    const NAMES: [&str; 5] =
        ["--inspect", "--inspect-brk", "--inspect-wait", "--inspect-port", "--debug-port"];
    let mut options = options.peekable();
    let mut port = DEFAULT_PORT;
    while let Some(option) = options.next() {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if !NAMES.contains(&name) {
            continue;
        }
        // Only these take a value in the next word.
        let is_separate = value.is_empty() && name.ends_with("-port");
        let value = if is_separate { options.peek().copied().unwrap_or_default() } else { value };
        port = value.rsplit(':').next().and_then(|value| value.parse().ok()).unwrap_or(port);
    }
    port
}

fn occupied(target: &Target, socket: &Socket) -> Failure {
    let owner = sockets::owner(socket.inode);
    let name = match owner {
        Some(pid) => {
            let command = command_line(Path::new(&format!("/proc/{pid}")));
            format!("process {pid} (`{}`)", short_command(&command, &env::current_dir().unwrap_or_default()))
        }
        None => "a process of another user or container".to_owned(),
    };
    let failure = Failure::job(format!(
        "{name} uses port {}, at which process {} would open its inspector",
        socket.address.port(),
        target.pid()
    ));
    failure.hint(match owner {
        Some(pid) => format!("end process {pid}, or close its inspector, first"),
        None => {
            "end that process, or close its inspector, first; `sudo ss -ltnp` lists such processes".to_owned()
        }
    })
}

fn not_opened(target: &Target) -> Failure {
    Failure::job(format!(
        "process {} did not open its inspector within {} s",
        target.pid(),
        PATIENCE.as_secs()
    ))
    .hint(
        "the program may handle SIGUSR1 itself: then record it with `selfprof run`. Or its main thread is blocked in native \
         code: then the inspector opens later, and the next `selfprof attach` uses it",
    )
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_inspector_without_a_session_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let inspector = Inspector { address, program: "a".to_owned(), was_open: false };
        let server = thread::spawn(move || {
            drop(listener.accept().unwrap());
            let mut socket = tungstenite::accept(listener.accept().unwrap().0).unwrap();
            socket.read().unwrap().to_string()
        });
        let until = Instant::now() + Duration::from_secs(20);
        assert!(inspector.connect(until).is_err());
        assert!(inspector.try_close(None, until));
        assert!(server.join().unwrap().contains("node:inspector"));
        // Nothing listens any more.
        assert!(!inspector.try_close(None, until));
        assert!(Inspector { was_open: true, ..inspector }.try_close(None, until));
    }

    #[test]
    fn the_port_is_that_of_the_last_option() {
        #[track_caller]
        fn check(options: &str, expected: u16) {
            assert_eq!(port(options.split_whitespace()), expected, "{options}");
        }
        check("a.js", 9229);
        check("--inspect a.js", 9229);
        check("--inspect=1234 a.js", 1234);
        check("--inspect=0.0.0.0:1234", 1234);
        check("--inspect=[::1]:1234 --inspect-port 80", 80);
        check("--inspect-port=0", 0);
        check("--inspect=localhost", 9229);
        check("--debug-port", 9229);
        check("--inspect-port=99999", 9229);
    }

    #[test]
    fn only_loopback_is_used() {
        #[track_caller]
        fn check(address: &str, expected: Option<&str>) {
            assert_eq!(loopback(address.parse().unwrap()), expected.map(|address| address.parse().unwrap()));
        }
        check("127.0.0.1", Some("127.0.0.1"));
        check("127.1.2.3", Some("127.1.2.3"));
        check("0.0.0.0", Some("127.0.0.1"));
        check("::", Some("::1"));
        check("::1", Some("::1"));
        check("192.168.0.1", None);
        check("2001:db8::1", None);
    }
}
