//! The targets, compiled with coverage instrumentation for libFuzzer.

use crate::checkout::Checkout;
use crate::job::{self, Output};
use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What `cargo fuzz --sanitizer none` sets: LLVM's own instrumentation, which every Rust toolchain has, and checks that
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

/// The limits of an input: a gigabyte, and a minute, which is a thousand times what an input takes on a busy machine.
pub const LIMITS: &[&str] = &["-timeout=60", "-rss_limit_mb=1024", "-malloc_limit_mb=512"];

/// The crates of this workspace that the targets consist of.
const OPTIMISED: &[&str] = &[
    "selfprof-trace",
    "selfprof-session",
    "selfprof-formats",
    "selfprof-source-maps",
    "selfprof-webdriver",
    "selfprof-fuzz",
];

/// How much of a program is instrumented.
#[derive(Clone, Copy, PartialEq)]
pub enum Scope {
    /// Everything but the standard library, for searches of minutes and hours. All of it is compiled in a folder of its
    /// own.
    Everything,
    /// The crates of this workspace. The other crates are those of the tests, so that little is compiled.
    Workspace,
}

/// The targets' programs and folders.
pub struct Instrumented {
    scope: Scope,
    /// `fuzz/` in the checkout.
    sources: PathBuf,
    /// The folder of the programs.
    programs: PathBuf,
    /// The folder for inputs that the fuzzer generates.
    work: PathBuf,
    /// The platform. With `--target`, build scripts and procedural macros are not instrumented.
    host: String,
    cargo: Box<dyn Fn() -> Command>,
}

impl Instrumented {
    /// Nothing is built yet.
    pub fn new(checkout: &Checkout, scope: Scope) -> Result<Self> {
        let work = checkout.target().join("fuzz");
        let host = host()?;
        let programs = match scope {
            Scope::Everything => work.join("target").join(&host).join("fuzz"),
            Scope::Workspace => checkout.target().join("debug"),
        };
        let checkout = checkout.clone();
        let sources = checkout.root().join("fuzz");
        Ok(Self { scope, sources, programs, work, host, cargo: Box::new(move || checkout.cargo()) })
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
        cargo.args(["build", "--package", "selfprof-fuzz", "--features", "libfuzzer"]);
        cargo.args(targets.iter().flat_map(|target| ["--bin", target]));
        match self.scope {
            Scope::Everything => {
                cargo.args(["--profile", "fuzz", "--target", &self.host]);
                cargo.arg("--target-dir").arg(self.work.join("target"));
                // RUSTFLAGS of the developer are for other builds.
                cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}")).env_remove("RUSTFLAGS");
            }
            Scope::Workspace => {
                cargo.env("RUSTC_WORKSPACE_WRAPPER", self.compiler()?);
                // Several times as many inputs a second, without compiling the other crates again.
                for name in OPTIMISED {
                    cargo.arg("--config").arg(format!("profile.dev.package.{name}.opt-level=1"));
                }
            }
        }
        job::run(&mut cargo, output).context("the fuzz targets did not build")
    }

    /// A compiler that instruments: cargo runs it on the crates of this workspace only.
    fn compiler(&self) -> Result<PathBuf> {
        let script = format!("#!/bin/sh\nexec \"$@\" {}\n", FLAGS.join(" "));
        fs::create_dir_all(&self.work).with_context(|| format!("cannot create {}", self.work.display()))?;
        let path = self.work.join("instrumenting-rustc");
        // Cargo compiles everything again when the file is newer.
        if !fs::read_to_string(&path).is_ok_and(|known| known == script) {
            fs::write(&path, script).with_context(|| format!("cannot create {}", path.display()))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        Ok(path)
    }

    /// The program of a target.
    pub fn program(&self, target: &str) -> PathBuf {
        self.programs.join(format!("{target}{}", env::consts::EXE_SUFFIX))
    }

    /// The folder of committed inputs: of the `corpus`, or of `findings`.
    pub fn committed(&self, kind: &str, target: &str) -> PathBuf {
        self.sources.join(kind).join(target)
    }

    /// All committed inputs of a target.
    pub fn committed_inputs(&self, target: &str) -> Vec<PathBuf> {
        let folders = ["corpus", "findings"].map(|kind| self.committed(kind, target));
        folders
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect()
    }

    /// A folder for inputs that the fuzzer generates; it is created.
    pub fn work_folder(&self, kind: &str, target: &str) -> Result<PathBuf> {
        let folder = self.work.join(kind).join(target);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// The dictionary of a target, if it has one.
    pub fn dictionary(&self, target: &str) -> Option<PathBuf> {
        Some(self.sources.join("dictionaries").join(format!("{target}.dict"))).filter(|file| file.is_file())
    }

    /// Runs one input, with its output on the terminal.
    pub fn run_input(&self, target: &str, input: &Path) -> Result<ExitCode> {
        // Without the file, libFuzzer runs nothing and exits with 0.
        if !input.is_file() {
            bail!("there is no file {}", input.display());
        }
        let mut command = Command::new(self.program(target));
        command.args(LIMITS).arg(input).env("RUST_BACKTRACE", "1");
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
