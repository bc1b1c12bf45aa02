//! The protocol of Node.js's inspector: its list of targets over HTTP, and calls over a WebSocket. What it answers is
//! not trusted.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use selfprof_http::{Client, Request, TimeLimits, Url};
use serde_json::{Value, json};
use tungstenite::client::client_with_config;
use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

use super::limited_stream::LimitedStream;

/// The longest answer that is read.
const MAX_BYTES: usize = 1 << 20;
/// At most this much of events waits to be read, as JSON.
const MAX_EVENT_BYTES: usize = 1 << 24;

/// A connection to an inspector.
pub struct Session {
    socket: WebSocket<LimitedStream>,
    last_id: u64,
    events: VecDeque<Value>,
    /// The sum of their lengths, and of those before.
    event_bytes: usize,
    /// After an error, a WebSocket cannot be used any more.
    is_broken: bool,
}

/// Finds the id of the Node.js program behind an inspector. Fails if no inspector listens there.
pub fn find_program(address: SocketAddr, deadline: Instant) -> io::Result<String> {
    let url = Url::parse(&format!("http://{address}/json/list")).map_err(io::Error::other)?;
    let client = Client::new(TimeLimits::within(deadline.saturating_duration_since(Instant::now())));
    let list = client.get(&Request::new(url)).and_then(|response| response.read(MAX_BYTES as u64));
    program_of(&list.map_err(io::Error::other)?).ok_or_else(|| invalid("this is not Node.js's inspector"))
}

/// The id of the first program in a list of targets.
fn program_of(body: &[u8]) -> Option<String> {
    let list: Value = serde_json::from_slice(body).ok()?;
    let program = list.as_array()?.iter().find(|target| target["type"] == "node")?;
    let id = program["id"].as_str()?;
    // It becomes a part of a request.
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (!id.is_empty() && id.len() <= 100 && id.bytes().all(is_id)).then(|| id.to_owned())
}

impl Session {
    /// Connects to the program with this id.
    pub fn connect(address: SocketAddr, program: &str, deadline: Instant) -> io::Result<Self> {
        let stream = LimitedStream::connect(address, deadline)?;
        let limits =
            WebSocketConfig::default().max_message_size(Some(MAX_BYTES)).max_frame_size(Some(MAX_BYTES));
        let (socket, _) = client_with_config(format!("ws://{address}/{program}"), stream, Some(limits))
            .map_err(|error| match error {
                HandshakeError::Failure(error) => to_io(error),
                HandshakeError::Interrupted(_) => io::ErrorKind::TimedOut.into(),
            })?;
        Ok(Self { socket, last_id: 0, events: VecDeque::new(), event_bytes: 0, is_broken: false })
    }

    /// Sends a call. Returns its id.
    pub fn send(&mut self, method: &str, parameters: Value, deadline: Instant) -> io::Result<u64> {
        self.socket.get_mut().set_deadline(deadline);
        self.last_id += 1;
        let call = json!({ "id": self.last_id, "method": method, "params": parameters });
        self.check()?;
        if let Err(error) = self.socket.send(Message::text(call.to_string())) {
            return Err(self.failed(error));
        }
        Ok(self.last_id)
    }

    /// Calls a method. Returns its result.
    pub fn call(&mut self, method: &str, parameters: Value, deadline: Instant) -> io::Result<Value> {
        let id = self.send(method, parameters, deadline)?;
        loop {
            let (mut message, length) = self.receive()?;
            if message["id"] == id {
                return match message.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(invalid(&format!("{method} failed: {}", message["error"]["message"]))),
                };
            }
            if message.get("method").is_some() && self.event_bytes + length <= MAX_EVENT_BYTES {
                self.event_bytes += length;
                self.events.push_back(message);
            }
        }
    }

    /// The events that have come before the answer of the last call and were not read.
    pub fn take_events(&mut self) -> Vec<Value> {
        self.events.drain(..).collect()
    }

    /// Waits for the next event. Answers of calls are ignored.
    pub fn next_event(&mut self, deadline: Instant) -> io::Result<Value> {
        self.socket.get_mut().set_deadline(deadline);
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            let (message, _) = self.receive()?;
            if message.get("method").is_some() {
                return Ok(message);
            }
        }
    }

    /// Waits until the other side closes the connection.
    pub fn wait_for_close(&mut self, deadline: Instant) -> io::Result<()> {
        self.socket.get_mut().set_deadline(deadline);
        loop {
            match self.receive() {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(error),
                Err(_) if self.is_broken => return Ok(()),
                // What is not JSON does not matter here.
                Err(_) | Ok(_) => {}
            }
        }
    }

    /// Closes the connection.
    pub fn close(mut self, deadline: Instant) {
        self.socket.get_mut().set_deadline(deadline);
        if !self.is_broken {
            let _ = self.socket.close(None);
            let _ = self.wait_for_close(deadline);
        }
    }

    /// The next message, and its length.
    fn receive(&mut self) -> io::Result<(Value, usize)> {
        loop {
            self.check()?;
            // Answers pings, too.
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let message = serde_json::from_str(&text);
                    return Ok((message.map_err(|_| invalid("the answer is not JSON"))?, text.len()));
                }
                Ok(_) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.is_broken { Err(io::ErrorKind::NotConnected.into()) } else { Ok(()) }
    }

    /// Only a message that has not arrived yet may be waited for again.
    fn failed(&mut self, error: tungstenite::Error) -> io::Error {
        let error = to_io(error);
        self.is_broken |= error.kind() != io::ErrorKind::TimedOut;
        error
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_owned())
}

fn to_io(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// What a server makes of a connection.
    fn serve(work: impl FnOnce(std::net::TcpStream) + Send + 'static) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || work(listener.accept().unwrap().0));
        address
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(300)
    }

    #[test]
    fn programs_are_found_in_lists() {
        #[track_caller]
        fn check(body: &str, expected: Option<&str>) {
            assert_eq!(program_of(body.as_bytes()).as_deref(), expected, "{body}");
        }
        check(r#"[{"type":"node","id":"a-1"}]"#, Some("a-1"));
        check(r#"[{"type":"page","id":"p"},{"type":"node","id":"b"}]"#, Some("b"));
        check(r#"[{"type":"node","id":"a\r\nHost: x"}]"#, None);
        check(&format!(r#"[{{"type":"node","id":"{}"}}]"#, "a".repeat(101)), None);
        for other in
            ["", "[]", "{}", r#"[{"type":"node"}]"#, r#"[{"type":"node","id":""}]"#, &"[".repeat(100_000)]
        {
            check(other, None);
        }
    }

    #[test]
    fn silent_and_slow_servers_are_not_waited_for() {
        let silent = serve(|stream| {
            thread::sleep(Duration::from_secs(5));
            drop(stream);
        });
        assert!(find_program(silent, soon()).is_err());
        let drop_by_drop = |start: &'static str| {
            move |mut stream: std::net::TcpStream| {
                let _ = stream.write_all(start.as_bytes());
                while stream.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(20));
                }
            }
        };
        let started = Instant::now();
        assert!(find_program(serve(drop_by_drop("HTTP/1.0 200 OK\r\n")), soon()).is_err());
        assert!(Session::connect(serve(drop_by_drop("HTTP/1.1 101 X\r\n")), "a", soon()).is_err());
        assert!(started.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn endless_answers_end() {
        let endless = serve(|mut stream| while stream.write_all(&[b'x'; 65536]).is_ok() {});
        assert!(find_program(endless, Instant::now() + Duration::from_secs(60)).is_err());
    }

    #[test]
    fn calls_get_their_own_answers() {
        let address = serve(|stream| {
            let mut socket = tungstenite::accept(stream).unwrap();
            let Message::Text(call) = socket.read().unwrap() else { panic!() };
            let call: Value = serde_json::from_str(&call).unwrap();
            assert_eq!(call, json!({ "id": 1, "method": "M", "params": { "a": 1 } }));
            for answer in [r#"{"method":"E"}"#, r#"{"id":7,"result":0}"#, r#"{"id":1,"result":{"b":2}}"#] {
                socket.send(Message::text(answer)).unwrap();
            }
            socket.read().unwrap();
            socket.send(Message::text("not JSON")).unwrap();
            socket.read().unwrap();
            socket.send(Message::text("x".repeat(MAX_BYTES + 1))).unwrap();
            let _ = socket.read();
        });
        let far = Instant::now() + Duration::from_secs(60);
        let mut session = Session::connect(address, "a", far).unwrap();
        assert_eq!(session.call("M", json!({ "a": 1 }), far).unwrap(), json!({ "b": 2 }));
        assert_eq!(session.next_event(far).unwrap(), json!({ "method": "E" }));
        assert!(session.call("M", json!({}), far).unwrap_err().to_string().contains("not JSON"));
        assert!(session.call("M", json!({}), far).unwrap_err().to_string().to_lowercase().contains("long"));
        session.wait_for_close(far).unwrap();
    }
}
