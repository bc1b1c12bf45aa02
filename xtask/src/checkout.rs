//! The folders and files of this checkout.

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders that the commands read and write.
#[derive(Clone)]
pub struct Checkout {
    root: PathBuf,
    target: PathBuf,
    /// Where cargo keeps what it compiles, if not in the target folder.
    build: Option<PathBuf>,
    /// Whether release builds have link-time optimisation.
    has_lto: bool,
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
        let target = metadata.target_directory.into_std_path_buf();
        Ok(Self { root: root.to_owned(), target, build: None, has_lto: true })
    }

    /// The same checkout, in which release builds have no link-time optimisation. After a change, building the CLI or
    /// an addon takes half of the CPU time or less; the CLI becomes about a tenth slower. The collector's own crates
    /// are optimised less, too.
    pub fn without_link_time_optimisation(self) -> Self {
        Self { has_lto: false, ..self }
    }

    /// The same checkout, in which cargo compiles into another folder.
    pub fn with_build_folder(self, folder: &Path) -> Self {
        Self { build: Some(folder.to_owned()), ..self }
    }

    /// The folder of the workspace's Cargo.toml.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the collector's Cargo.toml, which is a workspace of its own.
    pub fn collector(&self) -> PathBuf {
        self.root.join("collector")
    }

    /// The npm package `selfprof`.
    pub fn npm(&self) -> PathBuf {
        self.root.join("packages/selfprof")
    }

    /// The npm package `@selfprof/page`.
    pub fn page_package(&self) -> PathBuf {
        self.root.join("packages/page")
    }

    /// The npm package with the addons and the program, for the platform that is built for.
    pub fn native_package(&self) -> PathBuf {
        self.root.join("packages/native-linux-x64")
    }

    /// Cargo's target folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The release build of the CLI.
    pub fn cli(&self) -> PathBuf {
        self.target.join("release").join(format!("selfprof{}", env::consts::EXE_SUFFIX))
    }

    /// The folder for the output of child processes that is not shown.
    pub fn logs(&self) -> PathBuf {
        self.target.join("xtask")
    }

    /// Cargo in the workspace of the collector, with the same target folder.
    pub fn collector_cargo(&self) -> Command {
        let mut command = self.cargo();
        command.current_dir(self.collector()).env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// Cargo itself, in the workspace: the one that runs this program.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        // `cargo xtask` sets these for xtask. Build scripts of dependencies (ring's, for one) run again when they
        // change, so that everything above would be compiled again each time after `cargo` was run without xtask, and
        // in each checkout.
        let of_xtask = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_xtask)) {
            command.env_remove(name);
        }
        if let Some(folder) = &self.build {
            // Incremental compilation does not pay for what is compiled once and then deleted with the checkout.
            command.env("CARGO_BUILD_BUILD_DIR", folder).env("CARGO_INCREMENTAL", "0");
        }
        if !self.has_lto {
            command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
            // The collector's own crates; the profile names the optimisation of what they depend on.
            command.env("CARGO_PROFILE_COLLECTOR_OPT_LEVEL", "1");
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_not_told_of_xtask() {
        // Cargo has set it for this test.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        let Ok(checkout) = Checkout::find() else { panic!("no checkout") };
        let cargo = checkout.cargo();
        assert!(cargo.get_envs().any(|(name, value)| name == "CARGO_MANIFEST_DIR" && value.is_none()));
    }
}
