//! The npm package `selfprof`, whose preload records the script.

use std::env;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The preload, relative to the package.
const PRELOAD: &str = "run.cjs";

/// The npm package's directory.
#[derive(Debug)]
pub struct Package {
    directory: PathBuf,
}

impl Package {
    /// Looks at `SELFPROF_NPM`; then, in a checkout, above this program; then for an installed package.
    pub fn find() -> Result<Self, Failure> {
        if let Some(directory) = env::var_os("SELFPROF_NPM").filter(|value| !value.is_empty()) {
            let directory = PathBuf::from(directory);
            return Self::at(&directory).ok_or_else(|| {
                Failure::job(format!(
                    "SELFPROF_NPM names {}, which is not the npm package",
                    directory.display()
                ))
                .hint("the npm package holds package.json and run.cjs; unset SELFPROF_NPM to look for it")
            });
        }
        let above = |path: Option<PathBuf>, child: &str| {
            path.and_then(|path| path.ancestors().find_map(|ancestor| Self::at(&ancestor.join(child))))
        };
        let program = env::current_exe().and_then(|path| path.canonicalize()).ok();
        above(program, "npm").or_else(|| above(env::current_dir().ok(), "node_modules/selfprof")).ok_or_else(
            || {
                Failure::job("cannot find the npm package `selfprof`, which records the script")
                    .hint("install it with `npm install selfprof`, or name its directory in SELFPROF_NPM")
            },
        )
    }

    /// The package in this directory, by its real path: the preload looks for itself among Node's arguments.
    fn at(directory: &Path) -> Option<Self> {
        let is_package = directory.join("package.json").is_file() && directory.join(PRELOAD).is_file();
        let directory = is_package.then(|| directory.canonicalize().ok()).flatten()?;
        Some(Self { directory })
    }

    /// What Node is to load before the script.
    pub fn preload(&self) -> PathBuf {
        self.directory.join(PRELOAD)
    }

    /// The page of `selfprof report`.
    pub fn report(&self) -> PathBuf {
        self.directory.join("report").join("index.html")
    }

    /// The program that hosts pages.
    pub fn page_driver(&self) -> PathBuf {
        self.directory.join("lib/page/driver/main.cjs")
    }

    /// Where the addons are, one for each major.
    pub fn addons(&self) -> PathBuf {
        self.directory.join("native")
    }
}
