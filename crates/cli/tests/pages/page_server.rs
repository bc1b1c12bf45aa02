//! An HTTP server for test pages.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Serves texts by path, all with `Document-Policy: js-profiling`, until the test process ends.
pub struct PageServer {
    /// `http://127.0.0.1:PORT`
    pub origin: String,
}

impl PageServer {
    pub fn serve(pages: &[(&'static str, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let pages: HashMap<_, _> = pages.iter().copied().collect();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let pages = pages.clone();
                thread::spawn(move || answer(stream, &pages));
            }
        });
        Self { origin }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
}

fn answer(stream: TcpStream, pages: &HashMap<&str, &str>) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&length| length > 0)?;
        let path = line.split(' ').nth(1)?.split('?').next()?.to_owned();
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            if header.trim().is_empty() {
                break;
            }
            let (name, value) = header.split_once(':')?;
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        reader.by_ref().take(length).read_to_end(&mut Vec::new()).ok()?;
        let (status, body) =
            pages.get(path.as_str()).map_or(("404 Not Found", "not here"), |body| ("200 OK", body));
        let kind = if path.ends_with(".js") { "text/javascript" } else { "text/html" };
        write!(
            writer,
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ndocument-policy: js-profiling\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .ok()?;
    }
}
