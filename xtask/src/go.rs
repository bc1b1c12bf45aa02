//! Go, whose `go tool pprof` reads what is written for it: the one on PATH, or one from PyPI.

use crate::packages::Packages;
use crate::pypi::{self, GO};
use anyhow::Result;
use std::env;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// `path` as it is when there is Go on PATH, else with the one from PyPI at its end.
pub fn on_path(path: &OsStr, packages: &Packages) -> Result<OsString> {
    let mut go = Command::new("go");
    go.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if go.status().is_ok_and(|status| status.success()) {
        return Ok(path.to_owned());
    }
    let folder = pypi::package(&GO.folder(packages)?, "go")?.join("bin");
    Ok(env::join_paths(env::split_paths(path).chain([folder]))?)
}
