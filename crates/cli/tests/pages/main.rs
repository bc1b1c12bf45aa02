//! Tests of `selfprof page` and `selfprof webdriver` with real pages. `SELFPROF_NODE` is a Node.js that jsdom supports,
//! and `SELFPROF_TEST_JSDOM` the path of jsdom; `cargo xtask test --only driven` sets both.

#[path = "../support/mod.rs"]
mod support;

mod client;
mod endpoint;
mod page;
mod page_server;
mod processes;
mod protocol;

use std::process::Command;

/// `selfprof` with the Node.js and the jsdom for pages.
fn selfprof() -> Command {
    let mut command = support::selfprof();
    for name in ["SELFPROF_NODE", "SELFPROF_TEST_JSDOM"] {
        let value = std::env::var_os(name).unwrap_or_else(|| {
            panic!("{name} is not set; run these tests with `cargo xtask test --only driven`")
        });
        command.env(if name == "SELFPROF_NODE" { name } else { "SELFPROF_JSDOM" }, value);
    }
    command
}
