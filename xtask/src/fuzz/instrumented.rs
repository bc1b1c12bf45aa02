//! The targets, built so that libFuzzer sees which code an input reaches.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use crate::packages::Packages;
use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What `cargo fuzz --sanitizer none` sets: LLVM's own instruments, which every toolchain of Rust has, and checks that
/// release builds leave out.
const FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Cdebug-assertions",
    "-Coverflow-checks",
    "--cfg=fuzzing",
];

/// The targets' programs and folders.
pub struct Instrumented {
    /// `fuzz/` in the checkout.
    sources: PathBuf,
    /// Cargo's target folder for programs with instruments, beside which the fuzzer keeps what it found.
    work: PathBuf,
    /// The platform: with it named, build scripts and procedural macros have no instruments.
    host: String,
    cargo: Box<dyn Fn() -> Command>,
}

impl Instrumented {
    /// Nothing is built yet. Under CI, what takes minutes to build is kept in the cache, as its checkout is new each time.
    pub fn new(checkout: &Checkout, packages: &Packages) -> Result<Self> {
        let is_ci = env::var_os("CI").is_some_and(|value| !value.is_empty());
        let work = if is_ci { packages.beside("fuzz") } else { checkout.target().join("fuzz") };
        let root = checkout.root().to_owned();
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let cargo = Box::new(move || {
            let mut command = Command::new(&cargo);
            command.current_dir(&root);
            command
        });
        Ok(Self { sources: checkout.root().join("fuzz"), work, host: host()?, cargo })
    }

    /// The names of all targets.
    pub fn targets(&self) -> Result<Vec<String>> {
        let folder = self.sources.join("targets");
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Builds them.
    pub fn build(&self, targets: &[String], output: &Output<'_>) -> Result<()> {
        let mut cargo = (self.cargo)();
        cargo.args(["build", "--profile", "fuzz", "--package", "selfprof-fuzz", "--features", "libfuzzer"]);
        cargo.args(["--target", &self.host]).arg("--target-dir").arg(self.work.join("target"));
        cargo.args(targets.iter().flat_map(|target| ["--bin", target]));
        // Spaces in them would need no care, and what the developer has set for other builds does not count.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}")).env_remove("RUSTFLAGS");
        job::run(&mut cargo, output).context("the fuzz targets did not build")
    }

    /// The program of a target.
    pub fn program(&self, target: &str) -> PathBuf {
        let folder = self.work.join("target").join(&self.host).join("fuzz");
        folder.join(format!("{target}{}", env::consts::EXE_SUFFIX))
    }

    /// Inputs that are committed: of the corpus, or by which something was found once.
    pub fn committed(&self, kind: &str, target: &str) -> PathBuf {
        self.sources.join(kind).join(target)
    }

    /// The committed inputs of a target.
    pub fn kept(&self, target: &str) -> Vec<PathBuf> {
        let folders = ["corpus", "findings"].map(|kind| self.committed(kind, target));
        folders
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect()
    }

    /// A folder of the fuzzer's own, which is made.
    pub fn own(&self, kind: &str, target: &str) -> Result<PathBuf> {
        let folder = self.work.join(kind).join(target);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// The words that a target's inputs are made of, if somebody wrote them down.
    pub fn dictionary(&self, target: &str) -> Option<PathBuf> {
        Some(self.sources.join("dictionaries").join(format!("{target}.dict"))).filter(|file| file.is_file())
    }

    /// Runs one input in sight.
    pub fn run_input(&self, target: &str, input: &Path) -> Result<ExitCode> {
        // Else libFuzzer says that it ran nothing, and ends well.
        if !input.is_file() {
            bail!("there is no file {}", input.display());
        }
        let mut command = Command::new(self.program(target));
        command.args(super::session::LIMITS).arg(input).env("RUST_BACKTRACE", "1");
        let status = command.status().with_context(|| format!("cannot start {target}"))?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// The platform that this toolchain builds for.
fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
