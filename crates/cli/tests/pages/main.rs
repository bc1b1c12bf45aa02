//! `selfprof page` and `selfprof webdriver` on real pages. `SELFPROF_NODE` is a Node that has pages, and
//! `SELFPROF_TEST_JSDOM` is where jsdom is; `cargo xtask test --only driven` gives both.

#[path = "../support/mod.rs"]
mod support;

mod client;
mod endpoint;
mod page;
mod processes;
mod protocol;
mod site;

use std::process::Command;

/// The program with a Node and a jsdom for pages.
fn selfprof() -> Command {
    let mut command = support::selfprof();
    for name in ["SELFPROF_NODE", "SELFPROF_TEST_JSDOM"] {
        let value = std::env::var_os(name).unwrap_or_else(|| {
            panic!("{name} is not set: these tests run as `cargo xtask test --only driven`")
        });
        command.env(if name == "SELFPROF_NODE" { name } else { "SELFPROF_JSDOM" }, value);
    }
    command
}
