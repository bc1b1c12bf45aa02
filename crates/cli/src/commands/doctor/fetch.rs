//! Requests over HTTP and HTTPS, which Node.js makes: it knows certificates, proxies and compression.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::installation::node::Node;

/// The program.
const PROGRAM: &str = include_str!("fetch.mjs");

/// For each resource.
const TIME: Duration = Duration::from_secs(10);

/// The longest resource, in bytes, after decompression.
const MAX_BYTES: u64 = 8 << 20;

/// The longest text of the program. JSON may write a character as six.
const MAX_OUTPUT: u64 = 512 << 20;

/// What is fetched.
#[derive(Debug, Serialize)]
struct Request<'a> {
    bases: &'a [&'a str],
    urls: &'a [String],
    origin: Option<&'a str>,
    limits: Limits,
}

#[derive(Debug, Serialize)]
struct Limits {
    bytes: u64,
    milliseconds: u64,
}

/// What was found at a URL.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Resource {
    /// After redirects.
    pub url: String,
    /// Why there is nothing.
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub status: u16,
    /// Names are in lower case.
    #[serde(default)]
    pub headers: HashMap<String, String>,
    #[serde(default)]
    pub body: String,
}

impl Resource {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Why it is not there.
    pub fn problem(&self) -> Option<String> {
        match &self.error {
            Some(error) => Some(error.clone()),
            None if !(200..300).contains(&self.status) => {
                Some(format!("the server answers with status {}", self.status))
            }
            None => None,
        }
    }
}

/// Fetches resources, one after the other. URLs may be relative to the last of `bases`, which may be relative to
/// the one before. With an origin, its server is asked whether pages of that origin
/// may read them.
pub fn fetch(
    node: &Node,
    bases: &[&str],
    urls: &[String],
    origin: Option<&str>,
) -> Result<Vec<Resource>, Failure> {
    let limits = Limits { bytes: MAX_BYTES, milliseconds: TIME.as_millis() as u64 };
    let failed =
        |error: &(dyn std::error::Error + 'static)| Failure::job("nothing can be fetched").because(error);
    let request =
        serde_json::to_vec(&Request { bases, urls, origin, limits }).map_err(|error| failed(&error))?;
    let mut child = Command::new(&node.program)
        .args(["--input-type=module", "--eval", PROGRAM])
        // Preloads and debuggers must not run here.
        .env_remove("NODE_OPTIONS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    let mut stdin = child.stdin.take().expect("it is a pipe");
    // It reads everything before it writes.
    stdin.write_all(&request).map_err(|error| failed(&error))?;
    drop(stdin);
    let mut output = Vec::new();
    let stdout = child.stdout.take().expect("it is a pipe");
    stdout.take(MAX_OUTPUT).read_to_end(&mut output).map_err(|error| failed(&error))?;
    let _ = child.kill();
    let _ = child.wait();
    let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| failed(&error))).collect()
}
