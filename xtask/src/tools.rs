//! The programs that a developer's machine must have. What the commands can fetch is not among them.

use crate::problem::Problem;
use anyhow::Result;
use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// How a missing program is installed.
#[derive(Clone, Copy)]
enum Source {
    /// By a package of Debian.
    Apt(&'static str),
    /// By a component of Rust's toolchain.
    Rustup(&'static str),
}

/// A program that is not installed, or too old.
struct Missing {
    what: String,
    source: Source,
}

/// Fails if programs are missing that building needs, and names all of them.
pub fn check() -> Result<()> {
    report(to_build())
}

/// Fails if programs are missing that packing needs, and names all of them.
pub fn check_to_package() -> Result<()> {
    let mut missing = to_build();
    missing.extend(to_strip());
    report(missing)
}

/// Fails if programs are missing that a release needs, and names all of them.
pub fn check_to_release() -> Result<()> {
    let mut missing = to_build();
    missing.extend(to_strip());
    missing.extend(to_use_pypi());
    report(missing)
}

/// Fails if programs are missing that the tests need, and names all of them.
pub fn check_for_tests() -> Result<()> {
    let mut missing = to_build();
    missing.extend(to_strip());
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        missing.extend(unless_it_answers(program, Source::Rustup(component)));
    }
    missing.extend(to_use_pypi());
    report(missing)
}

fn to_use_pypi() -> Option<Missing> {
    let venv = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    (!answers("python3", &["-c", venv])).then(|| Missing {
        what: "Python 3.11 or newer with venv".to_owned(),
        source: Source::Apt("python3-venv"),
    })
}

fn to_build() -> Vec<Missing> {
    let mut missing = Vec::new();
    let node = "process.exit(Number(process.versions.node.split('.')[0]) < 20 ? 1 : 0)";
    if !answers("node", &["--eval", node]) {
        missing.push(Missing { what: "Node.js 20 or newer".to_owned(), source: Source::Apt("nodejs") });
    }
    if !answers("npm", &["--version"]) {
        missing.push(Missing { what: "npm".to_owned(), source: Source::Apt("npm") });
    }
    if !compiles_cpp20() {
        let what = format!("a C++20 compiler (`{}` is not one)", compiler().to_string_lossy());
        missing.push(Missing { what, source: Source::Apt("g++") });
    }
    missing
}

fn to_strip() -> Vec<Missing> {
    let programs = ["objcopy", "objdump"];
    programs.iter().filter_map(|program| unless_it_answers(program, Source::Apt("binutils"))).collect()
}

fn unless_it_answers(program: &str, source: Source) -> Option<Missing> {
    (!answers(program, &["--version"])).then(|| Missing { what: program.to_owned(), source })
}

fn report(missing: Vec<Missing>) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|missing| missing.what.as_str()).collect();
    let named = |pick: fn(Source) -> Option<&'static str>| {
        let mut names: Vec<&str> = missing.iter().filter_map(|missing| pick(missing.source)).collect();
        names.dedup();
        names.join(" ")
    };
    let apt = named(|source| if let Source::Apt(name) = source { Some(name) } else { None });
    let rustup = named(|source| if let Source::Rustup(name) = source { Some(name) } else { None });
    let mut commands = Vec::new();
    if !apt.is_empty() {
        commands.push(format!("apt-get install {apt} (on Debian)"));
    }
    if !rustup.is_empty() {
        commands.push(format!("rustup component add {rustup}"));
    }
    Err(Problem::error(format!("missing: {}", names.join(", ")), commands.join("; ")))
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("NODE_OPTIONS");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// What the `cc` crate runs.
fn compiler() -> OsString {
    env::var_os("CXX").unwrap_or_else(|| OsString::from("c++"))
}

/// The shim is C++20, and an older compiler accepts the flag without knowing the language, so a program is compiled.
fn compiles_cpp20() -> bool {
    const PROGRAM: &[u8] =
        b"#include <compare>\n#include <concepts>\nint main() { return (1 <=> 2) < 0 ? 0 : 1; }\n";
    let compile = || -> std::io::Result<bool> {
        let mut child = Command::new(compiler())
            .args(["-std=c++20", "-fsyntax-only", "-x", "c++", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A compiler that refuses the flags closes its end early; its exit status says so.
            let _ = stdin.write_all(PROGRAM);
        }
        Ok(child.wait()?.success())
    };
    compile().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_named_in_one_line() {
        assert!(report(Vec::new()).is_ok());
        let missing = [
            ("npm", Source::Apt("npm")),
            ("objcopy", Source::Apt("binutils")),
            ("objdump", Source::Apt("binutils")),
            ("cargo-fmt", Source::Rustup("rustfmt")),
        ]
        .map(|(what, source)| Missing { what: what.to_owned(), source });
        let Err(error) = report(missing.into()) else { panic!("nothing is reported") };
        assert_eq!(
            error.to_string(),
            "missing: npm, objcopy, objdump, cargo-fmt\n\n\
             hint: apt-get install npm binutils (on Debian); rustup component add rustfmt"
        );
    }
}
