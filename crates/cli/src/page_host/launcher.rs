//! Finding what the page host needs, and starting it.

use std::path::PathBuf;

use selfprof_webdriver::Pages;
use serde_json::Value;

use crate::arguments::PageHostArguments;
use crate::failure::Failure;
use crate::installation::addon;
use crate::installation::node::Node;
use crate::installation::package::Package;

use super::memory;
use super::process::PageProcess;

/// Starts page hosts with one Node.js and one jsdom.
#[derive(Debug)]
pub struct PageLauncher {
    node: Node,
    driver: PathBuf,
    /// Where to look for jsdom, if not in the default locations.
    jsdom: Option<String>,
    /// In bytes.
    memory_limit: u64,
}

impl PageLauncher {
    /// Finds Node.js, the npm package and its addon. jsdom, and whether it supports this Node.js, is checked by the
    /// page host.
    pub fn find(arguments: &PageHostArguments) -> Result<Self, Failure> {
        let node = Node::find(arguments.node.as_deref())?;
        let package = Package::find()?;
        addon::check(&package, &node)?;
        let jsdom = arguments.jsdom.as_ref().map(|path| path.to_string_lossy().into_owned());
        let driver = package.page_driver()?;
        let memory_limit =
            arguments.memory_limit.map_or_else(memory::default_limit, |megabytes| megabytes << 20);
        Ok(Self { node, driver, jsdom, memory_limit })
    }

    /// Starts a page host and lets it load jsdom. Calls `on_event` on another thread for every event of a page.
    pub fn start(
        &self,
        mut options: Value,
        on_event: impl FnMut(Value) + Send + 'static,
    ) -> Result<PageProcess, Failure> {
        let process = PageProcess::spawn(&self.node.program, &self.driver, self.memory_limit, on_event)
            .map_err(|error| Failure::job("cannot start the page host").because(&error))?;
        if let Some(jsdom) = &self.jsdom {
            options["jsdom"] = jsdom.as_str().into();
        }
        process.call("start", options).map_err(|error| start_failure(&error.message))?;
        Ok(process)
    }
}

/// Turns an error of the page host into a failure: without the package's name, and with its hint.
fn start_failure(message: &str) -> Failure {
    let message = message.trim_start_matches("@selfprof/page: ");
    match message.split_once("\n\nhint: ") {
        Some((message, hint)) => Failure::job(message)
            .hint(format!("{hint}; `--node PATH` and `--jsdom PATH` choose other versions")),
        None => Failure::job(message),
    }
}
