//! Arguments of `selfprof webdriver`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use super::page_host::PageHostArguments;

/// Serve WebDriver, so that Selenium and other clients can drive pages without a browser
///
/// Each session runs its pages in its own process. Besides the commands of WebDriver, the server has the extension
/// command of the JS Self-Profiling draft, `POST /session/{session id}/forcesample`: every running profiler of the
/// current window or frame takes one sample immediately, so tests do not have to sleep.
///
/// The server runs until SIGINT or SIGTERM. Its first line on stdout is the address that it listens on.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WebDriverArguments {
    /// Port to listen on; 0 picks a free one
    #[arg(short, long, value_name = "PORT", default_value = "4444")]
    pub port: u16,

    /// Address to listen on. Anyone who can reach it can load pages from this machine
    #[arg(long = "host", value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub address: IpAddr,

    /// Accept requests with this name in their Host header, besides IP addresses and localhost; may be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,

    /// Accept requests from web pages of this origin, e.g. http://localhost:8080; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origins: Vec<String>,

    /// Log requests, responses and page events to stderr
    #[arg(long)]
    pub log: bool,

    #[command(flatten)]
    pub host: PageHostArguments,
}

const EXAMPLES: &str = "\
Examples:
  selfprof webdriver
  selfprof webdriver --port 0 --log
  curl -d '{\"capabilities\":{}}' -H content-type:application/json http://127.0.0.1:4444/session

In Python, with Selenium:
  options = selenium.webdriver.common.options.ArgOptions()
  options.set_capability('browserName', 'selfprof')
  driver = selenium.webdriver.Remote('http://127.0.0.1:4444', options=options)
  driver.command_executor.add_command('forceSample', 'POST', '/session/$sessionId/forcesample')
  driver.execute('forceSample')

Like every command, a forced sample is taken between tasks of the page, so its stack is empty. A test can rely on
the number of samples and on their times. Pages have no layout: screenshots, sizes and pointer actions fail with
`unsupported operation`, and a click goes straight to its element.

Pages need Node.js 22 (22.22.2 or newer), 24 (24.15 or newer) or 26, and jsdom:
run `npm install jsdom@31.0.1` in the working directory.";
