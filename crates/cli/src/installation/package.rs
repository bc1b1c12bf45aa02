//! The npm package `selfprof`.

use std::env;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The script that `selfprof run` preloads, relative to the package.
const PRELOAD: &str = "run.cjs";

/// The directory of the npm package.
#[derive(Debug)]
pub struct Package {
    directory: PathBuf,
}

impl Package {
    /// Tries `SELFPROF_NPM`, then the checkout that this program was built in, then an installed package.
    pub fn find() -> Result<Self, Failure> {
        if let Some(directory) = env::var_os("SELFPROF_NPM").filter(|value| !value.is_empty()) {
            let directory = PathBuf::from(directory);
            return Self::at(&directory).ok_or_else(|| {
                Failure::job(format!(
                    "SELFPROF_NPM is {}, which is not the npm package `selfprof`",
                    directory.display()
                ))
                .hint("unset SELFPROF_NPM, or set it to the directory with package.json and run.cjs")
            });
        }
        let above = |path: Option<PathBuf>, child: &str| {
            path.and_then(|path| path.ancestors().find_map(|ancestor| Self::at(&ancestor.join(child))))
        };
        let program = env::current_exe().and_then(|path| path.canonicalize()).ok();
        above(program, "packages/selfprof")
            .or_else(|| above(env::current_dir().ok(), "node_modules/selfprof"))
            .ok_or_else(|| {
                Failure::job("cannot find the npm package `selfprof`")
                    .hint("install it with `npm install selfprof`, or set SELFPROF_NPM to its directory")
            })
    }

    /// The package in this directory. The path is canonical, because the preload looks for itself in
    /// `process.execArgv`.
    fn at(directory: &Path) -> Option<Self> {
        let is_package = directory.join("package.json").is_file() && directory.join(PRELOAD).is_file();
        let directory = is_package.then(|| directory.canonicalize().ok()).flatten()?;
        Some(Self { directory })
    }

    /// The script that Node.js loads before the user's script.
    pub fn preload(&self) -> PathBuf {
        self.directory.join(PRELOAD)
    }

    /// The module that begins a recording in a program that runs already.
    pub fn attaching(&self) -> PathBuf {
        self.directory.join("src/run/attach.cjs")
    }

    /// The HTML template of `selfprof report`.
    pub fn report(&self) -> PathBuf {
        self.directory.join("report").join("index.html")
    }

    /// A template of the polyfill's runtime, for `selfprof instrument`.
    pub fn polyfill(&self, name: &str) -> PathBuf {
        self.directory.join("polyfill").join(name)
    }

    /// The main script of the page host, in the package `@selfprof/page`: the one that the working directory's project
    /// has installed, or else the one installed beside this package.
    pub fn page_driver(&self) -> Result<PathBuf, Failure> {
        let working_directory = env::current_dir().ok();
        let mut folders = working_directory.iter().chain([&self.directory]);
        let found = folders.find_map(|folder| installed("@selfprof/page", folder));
        let driver = found.map(|package| package.join("src/host/driver-process.cjs"));
        driver.filter(|driver| driver.is_file()).ok_or_else(|| {
            Failure::job("cannot find the npm package `@selfprof/page`")
                .hint("install it with `npm install --save-dev @selfprof/page jsdom@31.0.1`")
        })
    }

    /// The directory of the package with the addons for a platform, one per Node.js major; `None` if it is not
    /// installed.
    pub fn addons(&self, platform: &str, arch: &str) -> Option<PathBuf> {
        installed(&format!("@selfprof/native-{platform}-{arch}"), &self.directory)
    }
}

/// The directory of an npm package, resolved from a folder as Node.js does: in the nearest `node_modules` that has it.
fn installed(name: &str, from: &Path) -> Option<PathBuf> {
    let mut candidates = from.ancestors().map(|folder| folder.join("node_modules").join(name));
    candidates.find(|candidate| candidate.join("package.json").is_file())?.canonicalize().ok()
}
