//! The collector: built, and running with the profiles of the shop page.

mod server;
mod shop;

pub use server::Server;
pub use shop::{BASE, NEW, check_difference, send_profiles, upload_maps};

use crate::checkout::Checkout;
use crate::job::{self, Output};
use anyhow::{Context, Result};
use std::env;
use std::path::PathBuf;

/// Cargo always gets both crates, so that it chooses the same features of dependencies.
pub const CRATES: [&str; 6] =
    ["--profile", "collector", "--package", "selfprof-store", "--package", "selfprof-collector"];

/// The program.
pub fn program(checkout: &Checkout) -> PathBuf {
    checkout.target().join("collector").join(format!("selfprof-collector{}", env::consts::EXE_SUFFIX))
}

/// Builds it.
pub fn build(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    job::run(checkout.cargo().arg("build").args(CRATES), output).context("the collector did not build")
}
