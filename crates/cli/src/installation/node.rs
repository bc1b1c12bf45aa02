//! The Node.js executable.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// The supported majors, by their `process.versions.modules` (`NODE_MODULE_VERSION`).
pub const MAJORS: [(u32, u32); 4] = [(115, 20), (127, 22), (137, 24), (147, 26)];

/// A Node.js executable and its version.
#[derive(Debug)]
pub struct Node {
    /// The path of the executable, or `node` for the one on PATH.
    pub program: PathBuf,
    /// `process.version`, e.g. `v20.1.2`.
    pub version: String,
    /// `process.versions.modules`: the ABI version that an addon must be built for.
    pub modules: u32,
    /// `process.platform`, e.g. `linux`.
    pub platform: String,
    /// `process.arch`, e.g. `x64`.
    pub arch: String,
}

impl Node {
    /// Runs the executable at `path`, or the one on PATH, to learn its version.
    pub fn find(path: Option<&Path>) -> Result<Self, Failure> {
        let program = path.unwrap_or(Path::new("node")).to_owned();
        let output = Command::new(&program)
            .args([
                "-p",
                "JSON.stringify([process.version, process.versions.modules, process.platform, process.arch])",
            ])
            // Preloads and debuggers must not run here.
            .env_remove("NODE_OPTIONS")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|error| not_started(path, &error))?;
        Self::parse(&program, &output.stdout)
            .ok_or_else(|| Failure::job(format!("{} is not Node.js", program.display())).hint(HINT))
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
    "selfprof needs Node.js 20, 22, 24 or 26, on PATH or set with --node PATH or SELFPROF_NODE";

fn not_started(path: Option<&Path>, error: &io::Error) -> Failure {
    let failure = match path {
        Some(path) => Failure::job(format!("cannot start {}", path.display())).because(error),
        None if error.kind() == io::ErrorKind::NotFound => Failure::job("cannot find `node` on PATH"),
        None => Failure::job("cannot start `node` from PATH").because(error),
    };
    failure.hint(HINT)
}
