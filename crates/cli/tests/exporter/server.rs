//! A server that answers as the test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use flate2::read::MultiGzDecoder;

/// A request.
#[derive(Debug)]
pub struct Request {
    /// The path with the query.
    pub path: String,
    /// The lines of the head, in lower case.
    pub head: Vec<String>,
    /// The body, decompressed if it is gzipped.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The lines of the body.
    pub fn lines(&self) -> Vec<serde_json::Value> {
        let lines = std::str::from_utf8(&self.body).unwrap().lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A server, whose threads end with the test.
pub struct Server {
    pub address: SocketAddr,
    pub requests: Receiver<Request>,
}

/// Answers a request, of which there were so many before.
type Answer = dyn Fn(usize, &mut TcpStream) + Send + Sync;

impl Server {
    /// Answers requests by what the function writes. The connection is closed afterwards.
    pub fn start(answer: impl Fn(usize, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        let answer: Box<Answer> = Box::new(answer);
        let answer = std::sync::Arc::new(answer);
        thread::spawn(move || {
            for (count, stream) in listener.incoming().enumerate() {
                let (mut stream, sender, answer) =
                    (stream.unwrap(), sender.clone(), std::sync::Arc::clone(&answer));
                thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    let _ = sender.send(request);
                    answer(count, &mut stream);
                });
            }
        });
        Self { address, requests }
    }

    /// Answers each request with this status, and headers that each end with a line break.
    pub fn with_status(status: &'static str, headers: &'static str) -> Self {
        Self::start(move |_, stream| respond(stream, status, headers, ""))
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn all(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

/// Writes a whole answer.
pub fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let path = head.first()?.split(' ').nth(1)?.to_owned();
    for line in &mut head {
        if let Some((name, value)) = line.split_once(':') {
            *line = format!("{}:{value}", name.to_lowercase());
        }
    }
    let mut request = Request { path, head, body: Vec::new() };
    let length: u64 = request.header("content-length")?.parse().ok()?;
    reader.take(length).read_to_end(&mut request.body).ok()?;
    if request.body.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(&request.body[..]).read_to_end(&mut plain).ok()?;
        request.body = plain;
    }
    Some(request)
}
