//! `selfprof webdriver`: serves WebDriver for pages without a browser, until a signal ends it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use selfprof_webdriver::{CallError, PageHost, PageOptions, Pages, Server, Trust};
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::WebDriverArguments;
use crate::failure::Failure;
use crate::page_host::PageLauncher;
use crate::signals::not_ignored;
use crate::terminal::messages::{say, warn};
use crate::terminal::names::printable;

/// Runs the command.
pub fn webdriver(arguments: &WebDriverArguments) -> Result<ExitCode, Failure> {
    let launcher = PageLauncher::find(&arguments.host)?;
    // Starting a page host once reports a missing jsdom here rather than to the first client.
    drop(launcher.start(json!({}), |_| {})?);
    let host = Arc::new(SessionProcesses {
        launcher,
        ignores_certificates: arguments.host.ignore_certificate_errors,
        is_logged: arguments.log,
    });
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(not_ignored([SIGHUP])))
        .map_err(|error| Failure::job("cannot catch signals").because(&error))?;

    let address = SocketAddr::new(arguments.address, arguments.port);
    let trust = Trust {
        hosts: arguments.allow_hosts.iter().cloned().chain(Trust::default().hosts).collect(),
        origins: arguments.allow_origins.clone(),
    };
    let mut server = Server::bind(address, host, trust).map_err(|error| cannot_listen(address, &error))?;
    if arguments.log {
        server = server.with_log(Arc::new(|line| say(printable(line))));
    }
    if !server.address().ip().is_loopback() {
        warn("anyone who can reach this address can load pages from this machine's network and disk");
    }
    let stopper = server.stopper();
    thread::spawn(move || {
        for _ in signals.forever() {
            stopper.stop();
        }
    });
    let line = writeln!(io::stdout(), "listening on http://{}", server.address());
    // Stdout may be closed.
    let _ = line.and_then(|()| io::stdout().flush());
    server.run().map_err(|error| Failure::job("cannot serve").because(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    let failure = Failure::job(format!("cannot listen on {address}")).because(error);
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            failure.hint("another program is listening there; `--port 0` picks a free port")
        }
        io::ErrorKind::AddrNotAvailable => {
            failure.hint("`--host` must be an address of this machine; the default is 127.0.0.1")
        }
        io::ErrorKind::PermissionDenied => {
            failure.hint("ports below 1024 need privileges; choose a higher one")
        }
        _ => failure,
    }
}

/// Starts a page host for each session.
struct SessionProcesses {
    launcher: PageLauncher,
    ignores_certificates: bool,
    is_logged: bool,
}

impl PageHost for SessionProcesses {
    fn start(&self, options: &PageOptions) -> Result<Arc<dyn Pages>, CallError> {
        let ignores = self.ignores_certificates || options.accepts_insecure_certificates;
        let is_logged = self.is_logged;
        let started = self.launcher.start(json!({ "ignoreCertificateErrors": ignores }), move |event| {
            if is_logged {
                log(&event);
            }
        });
        match started {
            Ok(process) => Ok(Arc::new(process)),
            Err(failure) => Err(CallError::new("session not created", failure.to_string())),
        }
    }
}

/// Logs an event of a page.
fn log(event: &Value) {
    let text = |name| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let what = ["method", "url", "message", "text"].map(text).join(" ");
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    say(format_args!("{} {}: {}", text("window"), text("event"), printable(&what)));
}
