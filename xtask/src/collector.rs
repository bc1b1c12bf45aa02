//! The collector: built, and running with the profiles of the shop page.

mod server;
mod shop;

pub use server::Server;
pub use shop::{BASE, NEW, check_difference, send_profiles, upload_maps};

use crate::checkout::Checkout;
use crate::job::{self, Output};
use anyhow::{Context, Result};
use std::path::PathBuf;

/// Cargo always gets the whole workspace, so that it chooses the same features of dependencies.
pub const CRATES: [&str; 3] = ["--profile", "collector", "--workspace"];

/// The name of the program. It runs on Linux.
pub const NAME: &str = "selfprof-collector";

/// The program, as cargo builds it.
pub fn program(checkout: &Checkout) -> PathBuf {
    checkout.target().join("collector").join(NAME)
}

/// What is said before it is built.
pub fn building(checkout: &Checkout) -> &'static str {
    if program(checkout).is_file() {
        "building the collector"
    } else {
        "building the collector: the first time takes some 25 minutes on 2 processors"
    }
}

/// Builds it.
pub fn build(checkout: &Checkout, output: &Output<'_>) -> Result<()> {
    job::run(checkout.collector_cargo().arg("build").args(CRATES), output)
        .context("the collector did not build")
}
