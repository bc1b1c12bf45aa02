//! A Node.js to build for and to run: the one on PATH, or an official build from npm.

use crate::packages::{NODE_BUILD, NODES, Package, Packages};
use crate::problem::Problem;
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The majors that selfprof supports.
pub const MAJORS: [u32; 4] = [20, 22, 24, 26];

/// puppeteer-core needs Node 22.12, and the code of the Firefox Profiler Node 24.
pub const MAJOR_THAT_DRIVES_CHROMIUM: u32 = 24;

/// A `--node` argument.
pub fn parse_major(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(major) if MAJORS.contains(&major) => Ok(major),
        _ => Err("the majors are 20, 22, 24 and 26".to_owned()),
    }
}

/// One Node: its executable, its headers, and the version of its binary interface.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its version as in "20.20.2".
    pub version: String,
    /// `process.versions.modules`: addons built for another value do not work.
    pub modules: u32,
    /// `process.platform`-`process.arch`.
    pub platform: String,
    /// The real executable, never a version manager's wrapper.
    pub executable: PathBuf,
    /// The folder of v8.h and node_version.h.
    pub include: PathBuf,
}

impl Node {
    /// The Node on PATH. Its headers are fetched if they are not installed with it.
    pub fn on_path(packages: &Packages) -> Result<Self> {
        let report = NodeReport::ask(Path::new("node"))?;
        let prefix = report.executable.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let include = match env::var_os("SELFPROF_NODE_INCLUDE") {
            Some(folder) => std::path::absolute(folder)?,
            None if has_v8(&prefix.join("include/node")) => prefix.join("include/node"),
            None => {
                let exact = Package { name: NODE_BUILD, version: &report.version, integrity: None };
                packages
                    .get(&exact)
                    .context("Node's headers are not installed with `node`")?
                    .join("include/node")
            }
        };
        report.with_headers(include)
    }

    /// The major of the Node on PATH, if there is one.
    pub fn major_on_path() -> Option<u32> {
        NodeReport::ask(Path::new("node")).ok().map(|report| report.major)
    }

    /// A Node of this major: the one on PATH when it fits, else the official build.
    pub fn of_major(major: u32, packages: &Packages) -> Result<Self> {
        if NodeReport::ask(Path::new("node")).is_ok_and(|report| report.major == major) {
            return Self::on_path(packages);
        }
        Self::official(major, packages)
    }

    fn official(major: u32, packages: &Packages) -> Result<Self> {
        let package = NODES
            .iter()
            .find(|package| major_of(package.version) == Some(major))
            .with_context(|| format!("no Node {major} is known"))?;
        let folder = packages.get(package)?;
        NodeReport::ask(&folder.join("bin/node"))?.with_headers(folder.join("include/node"))
    }

    /// A Node that jsdom runs on: the one on PATH, else the official build of Node 24.
    pub fn for_pages(packages: &Packages) -> Result<Self> {
        if NodeReport::ask(Path::new("node")).is_ok_and(|report| runs_pages(&report.version)) {
            return Self::on_path(packages);
        }
        Self::official(24, packages)
    }

    /// Whether jsdom runs on it.
    pub fn runs_pages(&self) -> bool {
        runs_pages(&self.version)
    }

    /// Its file name in packages/native-linux-x64.
    pub fn addon_name(&self) -> String {
        format!("selfprof-{}-{}.node", self.platform, self.modules)
    }

    /// PATH with this Node first, for a child process that starts `node`.
    pub fn path(&self) -> Result<OsString> {
        let first = self.executable.parent().map(Path::to_owned);
        let rest = env::var_os("PATH").unwrap_or_default();
        Ok(env::join_paths(first.into_iter().chain(env::split_paths(&rest)))?)
    }
}

/// What a node executable reports about itself.
struct NodeReport {
    major: u32,
    version: String,
    modules: u32,
    platform: String,
    executable: PathBuf,
}

impl NodeReport {
    fn ask(program: &Path) -> Result<Self> {
        const QUESTION: &str = "[process.versions.node, process.versions.modules, \
            process.platform + '-' + process.arch, process.execPath].join('\\n')";
        let output = Command::new(program)
            .args(["-p", QUESTION])
            .env_remove("NODE_OPTIONS")
            .output()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = answer.lines();
        let (Some(version), Some(modules), Some(platform), Some(executable)) =
            (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            bail!(
                "{} does not report its version like Node.js: {}",
                program.display(),
                String::from_utf8_lossy(&output.stderr)
            );
        };
        Ok(Self {
            major: major_of(version).with_context(|| format!("Node's version {version} has no major"))?,
            version: version.to_owned(),
            modules: modules
                .parse()
                .with_context(|| format!("Node's modules version {modules} is not a number"))?,
            platform: platform.to_owned(),
            executable: fs::canonicalize(executable).with_context(|| format!("cannot find {executable}"))?,
        })
    }

    /// With the headers of another Node, the addon compiles and crashes at run time, so versions are compared.
    fn with_headers(self, include: PathBuf) -> Result<Node> {
        let Self { major, version, modules, platform, executable } = self;
        if !MAJORS.contains(&major) {
            return Err(Problem::error(
                format!("Node {version} is not supported: {}", executable.display()),
                "put Node 20, 22, 24 or 26 on PATH, or pass --node 24 to fetch one",
            ));
        }
        let found = modules_of_headers(&include)?;
        if found != modules {
            return Err(Problem::error(
                format!(
                    "the headers in {} are for modules {found}, Node {version} has {modules}",
                    include.display()
                ),
                "point SELFPROF_NODE_INCLUDE at the include/node folder of the Node on PATH, or unset it",
            ));
        }
        Ok(Node { version, modules, platform, executable, include })
    }
}

/// Whether jsdom runs on this version: its `engines` are ^22.22.2, ^24.15 and 26 or newer.
fn runs_pages(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let version: [u32; 3] = std::array::from_fn(|_| parts.next().unwrap_or(0));
    match version {
        [22, ..] => version >= [22, 22, 2],
        [24, ..] => version >= [24, 15, 0],
        [major, ..] => major >= 26,
    }
}

fn major_of(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

fn has_v8(include: &Path) -> bool {
    include.join("v8-profiler.h").is_file() && include.join("node_version.h").is_file()
}

fn modules_of_headers(include: &Path) -> Result<u32> {
    let path = include.join("node_version.h");
    let text = fs::read_to_string(&path).map_err(|error| {
        Problem::error(
            format!("cannot read Node's headers: {}: {error}", path.display()),
            "SELFPROF_NODE_INCLUDE must name a folder like /usr/include/node, or be unset",
        )
    })?;
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("#define NODE_MODULE_VERSION"))
        .find_map(|value| value.trim().parse().ok())
        .with_context(|| format!("{} defines no NODE_MODULE_VERSION", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_run_on_what_jsdom_runs_on() {
        for version in ["22.22.2", "22.30.0", "24.15.0", "24.21.0", "26.0.0", "28.1.2"] {
            assert!(runs_pages(version), "{version}");
        }
        for version in ["20.20.2", "22.22.1", "22.9.9", "24.14.9", "23.11.0", "25.0.0", ""] {
            assert!(!runs_pages(version), "{version}");
        }
    }
}
