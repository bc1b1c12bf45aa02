//! Selenium from PyPI, in a Python environment of its own outside the checkout.

use crate::job::{self, Log, Output};
use crate::packages::Packages;
use crate::problem::Problem;
use crate::progress::Activity;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exact versions with their checksums. The first line names the file's purpose.
const REQUIREMENTS: &str = include_str!("../selenium.txt");

/// The Python that finds Selenium, installed when it is not in the cache.
pub fn python(packages: &Packages) -> Result<PathBuf> {
    let version = version();
    let home = packages.beside("python").join(format!("selenium-{version}"));
    let python = home.join("bin/python");
    if python.is_file() {
        return Ok(python);
    }
    let what = format!("fetching Selenium {version} from PyPI");
    let activity = Activity::start(&what);
    let log = Log::create(packages.logs(), &format!("fetch-selenium-{version}"))?;
    if let Err(error) = install(&home, &Output::Logged(&log, &activity)) {
        drop(activity);
        return Err(Problem::error(
            format!("{what} failed: {error:#}\n{}", log.text().trim_end()),
            "it needs Python 3.11 or newer with venv (apt-get install python3-venv) and PyPI, or a mirror set in \
             pip's configuration",
        ));
    }
    Ok(python)
}

fn version() -> &'static str {
    let line = REQUIREMENTS.lines().find_map(|line| line.strip_prefix("selenium=="));
    line.and_then(|line| line.split_whitespace().next()).unwrap_or_default()
}

/// Makes an environment beside `home` and moves it there whole. Its programs name their old place; its Python does not.
fn install(home: &Path, output: &Output<'_>) -> Result<()> {
    let folder = home.parent().context("a folder has a parent")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let fresh = tempfile::Builder::new().prefix(".fetch-").tempdir_in(folder)?;
    let environment = fresh.path().join("environment");
    job::run(Command::new("python3").args(["-m", "venv"]).arg(&environment), output)?;
    let requirements = fresh.path().join("requirements.txt");
    fs::write(&requirements, REQUIREMENTS)?;
    let mut pip = Command::new(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--only-binary=:all:"]);
    pip.args(["--require-hashes", "--no-deps", "--requirement"]).arg(&requirements);
    job::run(&mut pip, output)?;
    match fs::rename(&environment, home) {
        // Somebody else was faster, which is as good.
        Err(_) if home.is_dir() => Ok(()),
        moved => moved.with_context(|| format!("cannot create {}", home.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_requirements_are_pinned() {
        assert!(!version().is_empty());
        for line in REQUIREMENTS.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.contains("==") && line.contains(" --hash=sha256:"), "{line}");
        }
    }
}
