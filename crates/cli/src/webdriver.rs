//! `selfprof webdriver`: serves WebDriver over hosted pages until it is told to end.

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
use crate::location::printable;
use crate::pages::Hosting;
use crate::talk::{say, warn};

/// Runs the command.
pub fn webdriver(arguments: &WebDriverArguments) -> Result<ExitCode, Failure> {
    let hosting = Hosting::find(&arguments.host)?;
    // What is missing is said now and not to the first client. It takes a moment, since Node starts.
    drop(hosting.start(json!({}), |_| {})?);
    let host = Arc::new(Processes {
        hosting,
        ignores_certificates: arguments.host.ignore_certificate_errors,
        is_logged: arguments.log,
    });
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
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
        warn("whoever reaches this address can load pages from this machine's network and disk");
    }
    let stopper = server.stopper();
    thread::spawn(move || {
        for _ in signals.forever() {
            stopper.stop();
        }
    });
    let line = writeln!(io::stdout(), "listening on http://{}", server.address());
    // Nobody may be reading.
    let _ = line.and_then(|()| io::stdout().flush());
    server.run().map_err(|error| Failure::job("cannot serve").because(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    let failure = Failure::job(format!("cannot listen on {address}")).because(error);
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            failure.hint("another program does; `--port 0` takes any port that is free")
        }
        io::ErrorKind::AddrNotAvailable => {
            failure.hint("`--host` is an address of this machine: 127.0.0.1 by default")
        }
        io::ErrorKind::PermissionDenied => {
            failure.hint("ports below 1024 are the system's; choose a higher one")
        }
        _ => failure,
    }
}

/// A process for the pages of each session.
struct Processes {
    hosting: Hosting,
    ignores_certificates: bool,
    is_logged: bool,
}

impl PageHost for Processes {
    fn start(&self, options: &PageOptions) -> Result<Arc<dyn Pages>, CallError> {
        let ignores = self.ignores_certificates || options.accepts_insecure_certificates;
        let is_logged = self.is_logged;
        let started = self.hosting.start(json!({ "ignoreCertificateErrors": ignores }), move |event| {
            if is_logged {
                tell(&event);
            }
        });
        match started {
            Ok(process) => Ok(Arc::new(process)),
            Err(failure) => Err(CallError::new("session not created", failure.to_string())),
        }
    }
}

/// Logs what happens in a page.
fn tell(event: &Value) {
    let text = |name| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let what = ["method", "url", "message", "text"].map(text).join(" ");
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    say(format_args!("{} {}: {}", text("window"), text("event"), printable(&what)));
}
