//! The programs that a developer's machine must have, and how to get them.

use crate::problem::Problem;
use anyhow::Result;
use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Fails on the first missing program, naming the command that installs it.
pub fn check() -> Result<()> {
    answers(
        "node",
        "--version",
        "apt-get install nodejs (or any Node.js 20, 22, 24 or 26; its bin folder must be on PATH)",
    )?;
    answers(
        "npm",
        "--version",
        "apt-get install npm (it comes with Node.js where that is not Debian's package)",
    )?;
    compiles_cpp20()
}

/// The components of Rust's toolchain that only the tests use.
pub fn check_rust_components() -> Result<()> {
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        answers(program, "--version", &format!("rustup component add {component}"))?;
    }
    Ok(())
}

/// Go, whose `go tool pprof` reads what is written for it.
pub fn check_go() -> Result<()> {
    answers("go", "version", "apt-get install golang-go")
}

fn answers(program: &str, version: &str, install: &str) -> Result<()> {
    let mut command = Command::new(program);
    command.arg(version).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if command.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Problem::error(format!("the program `{program}` is not on PATH, or does not run"), install))
}

/// The browser that the report is tested in: what `SELFPROF_CHROMIUM` names, else the first known name on PATH.
pub fn chromium() -> Result<PathBuf> {
    let named = env::var_os("SELFPROF_CHROMIUM").filter(|value| !value.is_empty());
    let names = ["chromium", "chromium-browser", "google-chrome"].map(OsString::from);
    let candidates = named.map_or_else(|| names.to_vec(), |name| vec![name]);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = candidates.iter().find_map(|name| {
        // A name with a slash is a path, and joining it to folders would be wrong.
        let own = Path::new(name).components().count() > 1;
        let folders = env::split_paths(&path).map(|folder| folder.join(name));
        std::iter::once(PathBuf::from(name)).filter(|_| own).chain(folders).find(|file| file.is_file())
    });
    found.ok_or_else(|| {
        Problem::error(
            "there is no Chromium, which the report is tested in",
            "apt-get install chromium (or name one in SELFPROF_CHROMIUM)",
        )
    })
}

/// The shim is C++20, and an older compiler takes the flag without knowing the language, so a program is compiled.
/// The `cc` crate uses `CXX`, else `c++`.
fn compiles_cpp20() -> Result<()> {
    const PROGRAM: &[u8] =
        b"#include <compare>\n#include <concepts>\nint main() { return (1 <=> 2) < 0 ? 0 : 1; }\n";
    let compiler = env::var_os("CXX").unwrap_or_else(|| OsString::from("c++"));
    let compile = || -> std::io::Result<bool> {
        let mut child = Command::new(&compiler)
            .args(["-std=c++20", "-fsyntax-only", "-x", "c++", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A compiler that refuses the flags closes its end early; its exit status tells.
            let _ = stdin.write_all(PROGRAM);
        }
        Ok(child.wait()?.success())
    };
    if compile().unwrap_or(false) {
        return Ok(());
    }
    Err(Problem::error(
        format!("`{}` does not compile C++20", compiler.to_string_lossy()),
        "apt-get install g++ (version 12 is known to work; CXX names another compiler)",
    ))
}
