//! The oldest glibc that a program or an addon runs on.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// The version of glibc that the addons and the CLI promise to run on, as packages/native-linux-x64/README.md says:
/// Debian 12, Ubuntu 22.04 and RHEL 9 have it.
pub const PROMISED: (u32, u32) = (2, 34);

/// The one that the collector promises to run on, as packages/collector-linux-x64/README.md says: Debian 12 and Ubuntu
/// 22.04 have it. RHEL 9 does not: the collector computes square roots of sums of squares by a function of glibc that
/// changed in 2.35.
pub const PROMISED_BY_COLLECTOR: (u32, u32) = (2, 35);

/// The newest version of glibc that a file asks for, among the versions of its dynamic symbols.
pub fn needed(file: &Path) -> Result<(u32, u32)> {
    let output = Command::new("objdump").arg("-T").arg(file).output().context("cannot start objdump")?;
    if !output.status.success() {
        bail!("objdump -T {} ended with {}", file.display(), output.status);
    }
    newest(&String::from_utf8_lossy(&output.stdout))
        .with_context(|| format!("{} uses no symbol of glibc", file.display()))
}

/// The newest `GLIBC_2.34` in the output of `objdump -T`.
fn newest(symbols: &str) -> Option<(u32, u32)> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let mut parts = version.split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    versions.max()
}

#[test]
fn the_newest_version_is_found() {
    let symbols = "\
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.9)  open\n\
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.34) pthread_create\n\
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) free\n\
0000000000000000  w   D  *UND*\t0000000000000000  Base        __gmon_start__\n";
    assert_eq!(newest(symbols), Some((2, 34)));
    assert_eq!(newest("no symbols"), None);
}
