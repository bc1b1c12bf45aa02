//! Where things are in this checkout.

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders that the commands read and write.
pub struct Checkout {
    root: PathBuf,
    target: PathBuf,
}

impl Checkout {
    /// Asks cargo, because a developer may have moved the target folder by environment or configuration.
    pub fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent folder")?;
        let metadata = MetadataCommand::new()
            .current_dir(root)
            .no_deps()
            .exec()
            .context("cargo metadata could not read the workspace")?;
        Ok(Self { root: root.to_owned(), target: metadata.target_directory.into_std_path_buf() })
    }

    /// The folder of the workspace's Cargo.toml.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The npm package.
    pub fn npm(&self) -> PathBuf {
        self.root.join("npm")
    }

    /// Cargo's target folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The released CLI.
    pub fn cli(&self) -> PathBuf {
        self.target.join("release").join(format!("selfprof{}", env::consts::EXE_SUFFIX))
    }

    /// Outputs of the children that a command runs out of sight.
    pub fn logs(&self) -> PathBuf {
        self.target.join("xtask")
    }

    /// Cargo itself, in the workspace: the one that runs this program.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        command
    }
}
