//! Compiled dependencies outside the checkout, for machines that clone anew for each test run.
//!
//! Cargo keeps what it compiles in its build folder and the finished programs in its target folder. Under CI, or when
//! `SELFPROF_BUILD_CACHE` names a folder, the build folder is one that outlives the checkout. There is one for each
//! lock file, set of profiles and toolchain, and one for each set of the collector's large dependencies. A test run
//! uses it exclusively, and first removes what another checkout has compiled of this workspace's own crates, because
//! cargo does not distinguish the crates of two checkouts.

use crate::checkout::Checkout;
use crate::job::{self, Log, Output};
use crate::progress::Activity;
use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;
use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many test runs may use the same dependencies at the same time; further ones compile in their checkouts.
const SLOTS: u32 = 2;

/// How many build folders for other dependencies are kept, the latest ones.
const OTHERS_KEPT: usize = 2;

/// Locked by the test run that uses the build folder around it, and written when it starts.
const LOCK: &str = "in-use";

/// Names the checkout whose crates are in a build folder: in that folder, and in the logs of the checkout.
const OWNER: &str = "build-cache-owner";

/// A build folder that only this process uses as long as this value lives.
pub struct BuildCache {
    folder: PathBuf,
    _lock: File,
}

impl BuildCache {
    /// Where cargo keeps what it compiles.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// What is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Everything but the collector.
    Workspace,
    /// The collector and its store, whose dependencies take so long that they outlive changes of others.
    Collector,
}

impl Contents {
    /// The profiles that are built in it.
    fn profiles(self) -> &'static [&'static str] {
        match self {
            Self::Workspace => &["dev", "release"],
            Self::Collector => &["collector"],
        }
    }

    /// Names its folders.
    fn prefix(self) -> &'static str {
        match self {
            Self::Workspace => "",
            Self::Collector => "collector-",
        }
    }

    /// Whose folder this is, by its name.
    fn of(folder: &str) -> Self {
        if folder.starts_with(Self::Collector.prefix()) { Self::Collector } else { Self::Workspace }
    }
}

/// The collector's dependencies that take long to compile.
const LARGE: [&str; 3] = ["datafusion", "deltalake-core", "ballista-core"];

/// Opens a build folder in the cache, if one is to be used. `cache` is the folder of fetched packages and the like.
pub fn open(checkout: &Checkout, cache: &Path, contents: Contents) -> Result<Option<BuildCache>> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    // The developer has chosen a build folder.
    if set("CARGO_BUILD_BUILD_DIR").is_some() {
        return Ok(None);
    }
    let home = match (set("SELFPROF_BUILD_CACHE"), set("CI")) {
        (Some(named), _) => std::path::absolute(named)?,
        (None, Some(_)) => cache.to_owned(),
        (None, None) => return Ok(None),
    };
    let key = format!("{}{}", contents.prefix(), key(checkout, contents)?);
    let Some(cache) = lock_slot(&home, &key)? else { return Ok(None) };
    remove_others(&home, &key)?;
    take_over(checkout, &cache, contents)?;
    Ok(Some(cache))
}

/// What the compiled dependencies depend on.
fn key(checkout: &Checkout, contents: Contents) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    let read = |name| {
        let path = checkout.root().join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    match contents {
        // Cargo.toml has the profiles.
        Contents::Workspace => [read("Cargo.lock")?, read("Cargo.toml")?].hash(&mut hasher),
        Contents::Collector => versions(&read("collector/Cargo.lock")?, &LARGE).hash(&mut hasher),
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("-vV").output().context("cannot start rustc")?;
    version.stdout.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// The versions of these packages in a lock file.
fn versions<'lock>(lock: &'lock str, packages: &[&str]) -> Vec<&'lock str> {
    let lines: Vec<&str> = lock.lines().collect();
    let is_name = |line: &str| packages.iter().any(|name| line == format!("name = \"{name}\""));
    lines.windows(2).filter(|pair| is_name(pair[0])).map(|pair| pair[1]).collect()
}

/// The first build folder for these dependencies that no other process uses.
fn lock_slot(home: &Path, key: &str) -> Result<Option<BuildCache>> {
    for slot in 0..SLOTS {
        let folder = home.join(format!("{key}-{slot}"));
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        if let Some(lock) = try_lock(&folder)? {
            lock.set_modified(SystemTime::now())?;
            return Ok(Some(BuildCache { folder, _lock: lock }));
        }
    }
    Ok(None)
}

fn try_lock(folder: &Path) -> Result<Option<File>> {
    let path = folder.join(LOCK);
    let file = File::options().create(true).append(true).open(&path);
    let file = file.with_context(|| format!("cannot create {}", path.display()))?;
    Ok(file.try_lock().is_ok().then_some(file))
}

/// Removes build folders for other dependencies, except those used last and those in use.
fn remove_others(home: &Path, key: &str) -> Result<()> {
    let mut others = Vec::new();
    for entry in fs::read_dir(home)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let used = fs::metadata(entry.path().join(LOCK)).and_then(|data| data.modified());
        // Without the lock file it is no build folder of ours.
        if let Ok(used) = used
            && !name.starts_with(key)
            && Contents::of(&name) == Contents::of(key)
        {
            others.push((used, entry.path()));
        }
    }
    others.sort();
    let stale = others.len().saturating_sub(OTHERS_KEPT);
    for (_, folder) in others.into_iter().take(stale) {
        if let Some(_lock) = try_lock(&folder)? {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
    }
    Ok(())
}

/// Makes sure that nothing is left in the build folder of the workspace's crates in another checkout.
fn take_over(checkout: &Checkout, cache: &BuildCache, contents: Contents) -> Result<()> {
    let owner = format!("{}{OWNER}", contents.prefix());
    let (theirs, ours) = (cache.folder.join(OWNER), checkout.logs().join(owner));
    let owner = fs::read_to_string(&theirs).unwrap_or_default();
    if !owner.is_empty() && fs::read_to_string(&ours).is_ok_and(|known| known == owner) {
        return Ok(());
    }
    let log = Log::create(&checkout.logs(), "build-cache")?;
    let activity = Activity::start("removing what another checkout has compiled");
    let workspace = match contents {
        Contents::Workspace => checkout.root().to_owned(),
        Contents::Collector => checkout.collector(),
    };
    let metadata = MetadataCommand::new().current_dir(&workspace).exec();
    let metadata = metadata.context("cargo metadata could not read the workspace")?;
    // The collector's folder has crates of the root's workspace, too.
    let own = metadata.packages.iter().filter(|package| package.source.is_none());
    let own: Vec<&str> = own.map(|package| package.name.as_str()).collect();
    // cargo would also remove the finished programs of this checkout, among them the one that is running.
    let no_programs = tempfile::tempdir()?;
    for profile in contents.profiles() {
        let mut cargo = checkout.cargo();
        cargo
            .current_dir(&workspace)
            .args(["clean", "--profile", profile, "--target-dir"])
            .arg(no_programs.path());
        cargo.env("CARGO_BUILD_BUILD_DIR", &cache.folder);
        for name in &own {
            cargo.args(["--package", name]);
        }
        job::run(&mut cargo, &Output::Logged(&log, &activity)).context("cargo clean failed")?;
    }
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let owner = format!("{started}-{}", process::id());
    fs::write(&theirs, &owner)?;
    fs::write(&ours, &owner)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_folder_has_one_user() -> Result<()> {
        let home = tempfile::tempdir()?;
        let name = |cache: &Option<BuildCache>| {
            cache.as_ref().and_then(|cache| Some(cache.folder().file_name()?.to_string_lossy().into_owned()))
        };
        let first = lock_slot(home.path(), "key")?;
        let second = lock_slot(home.path(), "key")?;
        assert_eq!((name(&first).as_deref(), name(&second).as_deref()), (Some("key-0"), Some("key-1")));
        assert_eq!(name(&lock_slot(home.path(), "key")?), None);
        drop(first);
        assert_eq!(name(&lock_slot(home.path(), "key")?).as_deref(), Some("key-0"));
        Ok(())
    }

    #[test]
    fn a_lock_file_has_versions() {
        let lock = "[[package]]\nname = \"datafusion\"\nversion = \"55.2.0\"\n[[package]]\nname = \"datafusion-common\"\nversion = \"1.0.0\"\n";
        assert_eq!(versions(lock, &["datafusion"]), ["version = \"55.2.0\""]);
    }

    #[test]
    fn few_build_folders_are_kept() -> Result<()> {
        let home = tempfile::tempdir()?;
        fs::create_dir(home.path().join("something-else"))?;
        let in_use = lock_slot(home.path(), "used")?;
        drop(lock_slot(home.path(), "collector-a")?);
        for (age, key) in (1..).zip(["d", "c", "b", "a"]) {
            let cache = lock_slot(home.path(), key)?.context("it is locked")?;
            let used = SystemTime::now() - std::time::Duration::from_secs(60 * age);
            File::options().append(true).open(cache.folder().join(LOCK))?.set_modified(used)?;
        }
        remove_others(home.path(), "c")?;
        let mut left: Vec<String> = fs::read_dir(home.path())?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["c-0", "collector-a-0", "d-0", "something-else", "used-0"]);
        drop(in_use);
        Ok(())
    }
}
