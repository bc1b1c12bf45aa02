//! A running `selfprof webdriver`, and raw HTTP requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::selfprof;

pub struct Endpoint {
    pub process: Child,
    /// `127.0.0.1:PORT`
    pub address: String,
}

impl Endpoint {
    pub fn start() -> Self {
        Self::start_by(selfprof())
    }

    /// Starts it by a command that runs `selfprof`.
    pub fn start_by(mut command: Command) -> Self {
        let mut process = command.args(["webdriver", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").expect(&line).to_owned();
        Self { process, address }
    }

    /// Sends a request with these header lines, and returns the status and the value of the response.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").expect(&response);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{response}"));
        (status, body["value"].take())
    }

    /// Sends a command as a client would.
    pub fn command(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let host = format!("host: {}", self.address);
        let body = if method == "POST" { body.to_string() } else { String::new() };
        self.send(method, path, &[&host, "content-type: application/json; charset=utf-8"], body.as_bytes())
    }

    pub fn session(&self) -> Session<'_> {
        self.session_with(&json!({ "capabilities": {} }))
    }

    pub fn session_with(&self, parameters: &Value) -> Session<'_> {
        let (status, value) = self.command("POST", "/session", parameters);
        assert_eq!(status, 200, "{value}");
        Session { endpoint: self, id: value["sessionId"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub struct Session<'e> {
    pub endpoint: &'e Endpoint,
    pub id: String,
}

impl Session<'_> {
    /// Sends a command of the session.
    pub fn send(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.endpoint.command(method, &format!("/session/{}{path}", self.id), body)
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        let (status, value) = self.send("GET", path, &json!({}));
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: Value) -> Value {
        let (status, value) = self.send("POST", path, &body);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    /// Sends a command that must fail, and returns the error's code and message.
    #[track_caller]
    pub fn fails(&self, method: &str, path: &str, body: Value) -> (String, String) {
        let (status, value) = self.send(method, path, &body);
        assert!(status >= 400, "{path}: {value}");
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        (text("error"), text("message"))
    }

    #[track_caller]
    pub fn run(&self, script: &str, arguments: Value) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": arguments }))
    }
}
