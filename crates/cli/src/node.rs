//! The Node that runs the script.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// The majors that there can be an addon for, by their `process.versions.modules`.
pub const MAJORS: [(u32, u32); 4] = [(115, 20), (127, 22), (137, 24), (147, 26)];

/// A Node, and what it says about itself.
#[derive(Debug)]
pub struct Node {
    /// What to start: a path, or `node` for the one on PATH.
    pub program: PathBuf,
    /// `process.version`, e.g. `v20.1.2`.
    pub version: String,
    /// `process.versions.modules`: the version of the binary interface that an addon must have.
    pub modules: u32,
    /// `process.platform`, e.g. `linux`.
    pub platform: String,
    /// `process.arch`, e.g. `x64`.
    pub arch: String,
}

impl Node {
    /// Asks the Node at `path`, or the one on PATH, what it is.
    pub fn find(path: Option<&Path>) -> Result<Self, Failure> {
        let program = path.unwrap_or(Path::new("node")).to_owned();
        let output = Command::new(&program)
            .args([
                "-p",
                "JSON.stringify([process.version, process.versions.modules, process.platform, process.arch])",
            ])
            // Preloads and debuggers are for the script.
            .env_remove("NODE_OPTIONS")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|error| not_started(path, &error))?;
        Self::parse(&program, &output.stdout).ok_or_else(|| {
            Failure::job(format!("{} does not answer as Node.js does", program.display())).hint(HINT)
        })
    }

    fn parse(program: &Path, answer: &[u8]) -> Option<Self> {
        let answer: Value = serde_json::from_slice(answer).ok()?;
        let text = |index: usize| Some(answer.get(index)?.as_str()?.to_owned());
        Some(Self {
            program: program.to_owned(),
            version: text(0)?,
            modules: text(1)?.parse().ok()?,
            platform: text(2)?,
            arch: text(3)?,
        })
    }

    /// The major version, e.g. 20.
    pub fn major(&self) -> &str {
        self.version.trim_start_matches('v').split('.').next().unwrap_or_default()
    }
}

const HINT: &str =
    "selfprof needs Node.js 20, 22, 24 or 26: on PATH, or named by --node PATH or SELFPROF_NODE";

fn not_started(path: Option<&Path>, error: &io::Error) -> Failure {
    let failure = match path {
        Some(path) => Failure::job(format!("cannot start {}", path.display())).because(error),
        None if error.kind() == io::ErrorKind::NotFound => Failure::job("there is no `node` on PATH"),
        None => Failure::job("cannot start the `node` on PATH").because(error),
    };
    failure.hint(HINT)
}
