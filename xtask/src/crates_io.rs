//! Programs from crates.io, compiled once and kept outside the checkout. Only for those that no registry has as a
//! binary.

use crate::checkout::Checkout;
use crate::job::{self, Log, Output};
use crate::packages::Packages;
use crate::problem::Problem;
use crate::progress::Activity;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// A program. Cargo checks the checksums of its source and of its locked dependencies.
pub struct Tool {
    /// The name of the crate and of its program.
    name: &'static str,
    /// Its exact version.
    version: &'static str,
    /// Features that are not on by default.
    features: &'static str,
}

/// Lists the licences of the crates that a program is made of, with their texts.
pub const CARGO_ABOUT: Tool = Tool { name: "cargo-about", version: "0.9.3", features: "cli" };

/// Lists the crates that a program is made of, as CycloneDX.
pub const CARGO_CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9", features: "" };

impl Tool {
    /// The path of the program, which is compiled when it is not in the cache.
    pub fn program(&self, checkout: &Checkout, packages: &Packages) -> Result<PathBuf> {
        let Self { name, version, .. } = *self;
        let home = packages.cache_of("cargo").join(format!("{name}-{version}"));
        let program = home.join("bin").join(name);
        if program.is_file() {
            return Ok(program);
        }
        let what = format!("compiling {name} {version} from crates.io, once");
        let activity = Activity::start(&what);
        let log = Log::create(packages.logs(), &format!("fetch-{name}-{version}"))?;
        if let Err(error) = self.install(&home, checkout, &Output::Logged(&log, &activity)) {
            drop(activity);
            return Err(Problem::error(
                format!("{what} failed: {error:#}\n{}", log.text().trim_end()),
                "it needs crates.io, or a mirror set in cargo's configuration",
            ));
        }
        Ok(program)
    }

    /// Compiles into a folder beside `home`, which is renamed when it is complete.
    fn install(&self, home: &Path, checkout: &Checkout, output: &Output<'_>) -> Result<()> {
        let folder = home.parent().context("a folder has a parent")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let temporary = tempfile::Builder::new().prefix(".fetch-").tempdir_in(folder)?;
        let root = temporary.path().join("root");
        let mut cargo = checkout.cargo();
        cargo.args(["install", "--locked", "--version", self.version, "--features", self.features]);
        cargo.arg("--root").arg(&root).arg(self.name);
        cargo.env("CARGO_TARGET_DIR", temporary.path().join("target"));
        // It runs for seconds, so compiling it must not take many minutes.
        for (setting, value) in [("OPT_LEVEL", "1"), ("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")]
        {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
        }
        job::run(&mut cargo, output)?;
        match fs::rename(&root, home) {
            // Another xtask was faster.
            Err(_) if home.is_dir() => Ok(()),
            renamed => renamed.with_context(|| format!("cannot create {}", home.display())),
        }
    }
}
