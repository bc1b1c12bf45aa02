//! The browser that pages are tested in: one that is installed, or a headless build from npm.

use crate::job::{self, Log, Output};
use crate::packages::{CHROMIUM, Packages};
use crate::problem::Problem;
use crate::progress::Activity;
use anyhow::{Context, Result};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks the npm package with its own code, which unpacks into the folder for temporary files.
const UNPACK: &str = "\
const { inflate } = await import(process.argv[1] + '/build/index.js');
for (const name of ['chromium', 'fonts.tar', 'swiftshader.tar', 'al2023.tar']) {
  await inflate(`${process.argv[1]}/bin/${name}.br`);
}";

/// Starts the program. The libraries that come with it are those that minimal systems of Debian lack. It has no zygote
/// process. In the POSIX locale its language would be a tag that `Intl` rejects.
const LAUNCHER: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/al2023/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="$here/fonts.conf"
LC_ALL=en_US.UTF-8 exec "$here/chromium" --no-zygote "$@"
"#;

const FONTS: &str = r#"<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"#;

/// What `SELFPROF_CHROMIUM` names, else the first known name on PATH, else the one from npm.
pub fn find(packages: &Packages) -> Result<PathBuf> {
    if let Some(named) = env::var_os("SELFPROF_CHROMIUM").filter(|value| !value.is_empty()) {
        return on_path(&named).ok_or_else(|| {
            Problem::error(
                format!("SELFPROF_CHROMIUM names {}, which does not exist", Path::new(&named).display()),
                "unset it to use the Chromium on PATH, or one from npm",
            )
        });
    }
    let names = ["chromium", "chromium-browser", "google-chrome"].map(OsString::from);
    match names.iter().find_map(on_path) {
        Some(installed) => Ok(installed),
        None => from_npm(packages),
    }
}

/// A program by its path, or by its name on PATH.
fn on_path(name: &OsString) -> Option<PathBuf> {
    // A name with a slash is a path, and joining it to folders would be wrong.
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name)).filter(|file| file.is_file());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn from_npm(packages: &Packages) -> Result<PathBuf> {
    let home = packages.cache_of("chromium").join(CHROMIUM.version);
    let launcher = home.join("launch");
    // Another version of xtask may have written another launcher.
    if fs::read_to_string(&launcher).is_ok_and(|text| text == LAUNCHER) {
        return Ok(launcher);
    }
    let _ = fs::remove_dir_all(&home);
    let package = packages.get(&CHROMIUM)?;
    let activity = Activity::start("unpacking Chromium");
    let log = Log::create(packages.logs(), "unpack-chromium")?;
    let folder = packages.cache_of("chromium");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let temporary = tempfile::Builder::new().prefix(".unpack-").tempdir_in(&folder)?;
    let mut node = Command::new("node");
    node.args(["--input-type=module", "--eval", UNPACK]).arg(&package);
    node.env("TMPDIR", temporary.path()).env_remove("NODE_OPTIONS");
    job::run(&mut node, &Output::Logged(&log, &activity)).context("Chromium from npm was not unpacked")?;
    fs::write(temporary.path().join("fonts.conf"), FONTS)?;
    let unpacked = temporary.path().join("launch");
    fs::write(&unpacked, LAUNCHER)?;
    fs::set_permissions(&unpacked, fs::Permissions::from_mode(0o755))?;
    // Temporary folders are private, and another user may share the cache.
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755))?;
    match fs::rename(temporary.path(), &home) {
        // Another xtask was faster.
        Err(_) if launcher.is_file() => {}
        renamed => renamed.with_context(|| format!("cannot create {}", home.display()))?,
    }
    Ok(launcher)
}
