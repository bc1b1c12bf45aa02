//! Runs tests in a browser over the polyfill: starts packages/page/wpt/polyfill/main.mjs.

use super::Arguments;
use super::runner::{Runner, SILENCE};
use crate::build::build_cli;
use crate::checkout::Checkout;
use crate::chromium;
use crate::firefox;
use crate::job::Output;
use crate::node::{MAJOR_THAT_DRIVES_CHROMIUM, Node};
use crate::packages::{Packages, SELFSIGNED};
use crate::pages::build_agent;
use crate::progress::say;
use crate::webkit;
use crate::workspace::install_workspace;
use anyhow::{Context, Result};
use clap::ValueEnum;
use serde_json::{Map, Value, json};

/// A browser that can be driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Browser {
    Chromium,
    Firefox,
    #[value(name = "webkit")]
    WebKit,
}

impl Browser {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::WebKit => "webkit",
        }
    }
}

/// Runs tests in a browser. Also gives what a report says of it.
pub fn runner(
    browser: Browser,
    checkout: &Checkout,
    packages: &Packages,
    arguments: &Arguments,
) -> Result<(Runner, Value)> {
    let program = match browser {
        Browser::Chromium => chromium::find(packages)?,
        Browser::Firefox => firefox::find()
            .context("there is no Firefox: install it, or set SELFPROF_FIREFOX to its executable")?,
        Browser::WebKit => webkit::find().with_context(|| format!("there is no WebKit: {}", webkit::HINT))?,
    };
    if !arguments.no_build {
        install_workspace(checkout, &Output::Shown)?;
        say("building the CLI and the polyfill");
        build_cli(checkout, &Output::Shown)?;
        build_agent(checkout, &Output::Shown)?;
    }
    let mut needs = Map::new();
    needs.insert("program".to_owned(), json!(checkout.cli()));
    needs.insert("npm".to_owned(), json!(checkout.npm()));
    needs.insert("selfsigned".to_owned(), json!(packages.get(&SELFSIGNED)?));
    needs.insert("browser".to_owned(), json!({ "name": browser.name(), "program": program }));
    let about = json!({
        "product": format!("selfprof's polyfill, {}", browser.name()),
        "browser_version": env!("CARGO_PKG_VERSION"),
    });
    let runner = Runner {
        node: Node::of_major(MAJOR_THAT_DRIVES_CHROMIUM, packages)?.executable,
        program: checkout.root().join("packages/page/wpt/polyfill/main.mjs"),
        // Browsers find such names on this machine.
        environment: &[("SELFPROF_WPT_TOP", "localhost")],
        needs,
        jobs: 1,
        multiplier: arguments.timeout_multiplier,
        silence: SILENCE,
    };
    Ok((runner, about))
}
