//! `selfprof webdriver`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use super::HostArguments;

/// Serve WebDriver, so that Selenium and others can drive pages without a browser, and force samples
///
/// Each session has pages in a process of its own. Beside WebDriver's own commands there is the one of the JS Self-Profiling
/// draft, `POST /session/{session id}/forcesample`: each started profiler of the current window or frame takes one sample
/// now. Tests of profiles need not sleep with it.
///
/// It listens until SIGINT or SIGTERM. The first line on stdout says where.
#[derive(Debug, Args)]
#[command(after_help = WEBDRIVER_EXAMPLES)]
pub struct WebDriverArguments {
    /// Listen on this port; 0 takes any that is free
    #[arg(short, long, value_name = "PORT", default_value = "4444")]
    pub port: u16,

    /// Listen on this address. Whoever can reach it can load pages from this machine
    #[arg(long = "host", value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub address: IpAddr,

    /// A name that clients may call this machine by, beside its addresses and localhost; may be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,

    /// An origin whose pages may send commands from a browser, e.g. http://localhost:8080; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origins: Vec<String>,

    /// Tell requests, answers and what happens in pages on stderr
    #[arg(long)]
    pub log: bool,

    #[command(flatten)]
    pub host: HostArguments,
}

const WEBDRIVER_EXAMPLES: &str = "\
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

A forced sample is taken between the page's tasks, as every command: its stack is empty. It is one sample all the same, so
a test can count on its number and its time. Pages have no layout: screenshots, sizes and pointer actions are answered by
`unsupported operation`, and clicks go to the element itself.

Pages need Node 22.22.2, 24.15 or 26, and jsdom: `npm install jsdom@31.0.1` in the working directory.";
