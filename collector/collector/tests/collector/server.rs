//! A collector that runs for a test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, Response};
use serde_json::{Value, json};

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_selfprof-collector");

/// A running collector, which is killed when it is dropped.
pub struct Server {
    child: Child,
    pub url: String,
    pub client: Client,
}

impl Server {
    /// Starts one on a free port, with these further arguments.
    pub fn start(data: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("it says where it listens").unwrap();
        let url = first.split_whitespace().last().unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{first}");
        Self { child, url, client: Client::new() }
    }

    /// Sends a body as a page's beacon does.
    pub async fn send(&self, body: impl Into<reqwest::Body>) -> Response {
        let request = self.client.post(format!("{}/v1/profiles", self.url));
        request.header("content-type", "text/plain;charset=UTF-8").body(body).send().await.unwrap()
    }

    /// The answer to a question.
    pub async fn ask(&self, path: &str) -> Value {
        let response = self.client.get(format!("{}{path}", self.url)).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
        json_of(response).await
    }

    /// Waits until this many profiles are in the tables.
    pub async fn wait_for(&self, profiles: u64) {
        let begin = Instant::now();
        loop {
            let text =
                self.client.get(format!("{}/metrics", self.url)).send().await.unwrap().text().await.unwrap();
            let stored = text.lines().find_map(|line| line.strip_prefix("selfprof_profiles_stored_total "));
            if stored.is_some_and(|stored| stored.parse::<u64>().unwrap() >= profiles) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{text}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Ends it at once, as the system does when memory is short.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and waits.
    pub fn stop(mut self) {
        let killed = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command of the program to its end.
pub fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

/// What a page sends: samples 10 ms apart, in `slow` of `app.js`, called by `main`.
pub fn profile(id: &str, samples: usize) -> Value {
    let times: Vec<Value> = (0..samples).map(|n| json!({ "timestamp": 10 * n, "stackId": 1 })).collect();
    json!({
        "id": id, "app": "shop", "release": "1.4", "page": "/cart", "session": id,
        "trace": {
            "resources": ["https://shop.example/app.js?v=secret"],
            "frames": [
                { "name": "main", "resourceId": 0, "line": 1, "column": 1 },
                { "name": "slow", "resourceId": 0, "line": 9, "column": 3 },
            ],
            "stacks": [{ "frameId": 0 }, { "frameId": 1, "parentId": 0 }],
            "samples": times,
        },
    })
}

/// The JSON of an answer.
pub async fn json_of(response: Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}
