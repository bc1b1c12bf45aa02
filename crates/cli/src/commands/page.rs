//! `selfprof page`: loads a page without a browser, prints its console output and profiles its load.

mod address;
mod console;

use std::env;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use selfprof_formats::{Thread, w3c};
use selfprof_trace::Clock;
use selfprof_trace::summary::Summary;
use selfprof_webdriver::{CallError, Pages};
use serde_json::{Value, json};

use crate::arguments::{PageArguments, Wait};
use crate::failure::Failure;
use crate::files::output::{self, TracePath};
use crate::page_host::{PageLauncher, PageProcess, TOO_LARGE};
use crate::program::Program;
use crate::terminal::color::Colors;
use crate::terminal::messages::{say, warn};
use crate::terminal::tables;

use address::Address;
use console::{Console, Counts};

/// How often a page is looked at while it is waited for.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long to wait for the trace of a page that is still busy, in milliseconds.
const TRACE_TIMEOUT: u64 = 30_000;

/// Runs the command. Wrong usage is reported before the page is loaded.
pub fn page(arguments: &PageArguments) -> Result<ExitCode, Failure> {
    let address = Address::parse(&arguments.page)?;
    let output = match (&arguments.output, arguments.profile_load) {
        (None, false) => None,
        (given, _) => Some(TracePath::new(given.as_deref(), &address.name())?),
    };
    let launcher = PageLauncher::find(&arguments.host)?;
    let counts = Arc::new(Counts::default());
    let mut console = Console::new(Arc::clone(&counts));
    let options = json!({ "ignoreCertificateErrors": arguments.host.ignore_certificate_errors });
    let pages = launcher.start(options, move |event| console.print(&event))?;

    let opened = pages.call("open", json!({ "url": null })).map_err(|error| host_failure(&error))?;
    let window = &opened["window"];
    let profile = output.is_some().then(|| {
        let mut profile = json!({ "sampleInterval": arguments.interval });
        if let Some(buffer) = arguments.buffer {
            profile["maxBufferSize"] = buffer.into();
        }
        profile
    });
    let mut navigation = json!({
        "window": window,
        "url": address.url(),
        "waitUntil": arguments.wait.event(),
        "timeout": arguments.timeout,
    });
    if let Some(profile) = profile {
        navigation["profile"] = profile;
    }
    if let Some(root) = &arguments.root {
        navigation["root"] = root.to_string_lossy().into();
    }
    let mut loaded = pages.call("navigate", navigation);
    if let (Ok(_), Wait::Time(time)) = (&loaded, arguments.wait) {
        let end = Instant::now() + Duration::from_millis(time);
        let left = || end.saturating_duration_since(Instant::now());
        // What a page does after the load can end its process.
        while pages.failure().is_none() && !left().is_zero() {
            thread::sleep(left().min(INTERVAL));
        }
        if let Some(failure) = pages.failure() {
            loaded = Err(failure);
        }
    }

    let recorded = match &output {
        // After a timeout, too: the trace shows what the page was busy with.
        Some(output) if loaded.is_ok() || has_timed_out(&loaded) => record(&pages, window, output, arguments),
        _ => Ok(()),
    };
    pages.end();
    counts.report();
    let response = match loaded {
        Ok(response) => response,
        Err(error) => {
            if let (Err(failure), true) = (recorded, error.code == "timeout") {
                failure.report();
            }
            return Err(explain(&error, arguments));
        }
    };
    recorded?;
    if counts.has_lost_lines() {
        return Err(
            Failure::job("cannot write the page's console messages to stdout").hint("is the disk full?")
        );
    }
    match response["status"].as_u64() {
        Some(status @ 400..) => {
            Err(Failure::job(format!("{} returned HTTP status {status}", arguments.page))
                .hint("the server's error page was loaded instead; check the address"))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn has_timed_out(loaded: &Result<Value, CallError>) -> bool {
    loaded.as_ref().is_err_and(|error| error.code == "timeout")
}

/// The page host has failed, not the page.
fn host_failure(error: &CallError) -> Failure {
    Failure::job(error.message.clone()).hint(
        "if Node.js says above that it is out of memory, the page has used that up; otherwise, please report this bug with its output",
    )
}

/// Why the page was not loaded, with a hint.
fn explain(error: &CallError, arguments: &PageArguments) -> Failure {
    let message = &error.message;
    let failure = Failure::job(message.clone());
    let is = |what: &str| message.contains(what);
    if error.code == "timeout" {
        return failure.hint(match arguments.wait {
            Wait::Idle => {
                "`--wait load` does not wait for work after the load; `--timeout MS` allows more time"
            }
            _ => "`--timeout MS` allows more time, unless a script is in an endless loop",
        });
    }
    if error.code == "insecure certificate" {
        return failure.hint("`--ignore-certificate-errors` accepts the certificate");
    }
    if is("ECONNREFUSED") {
        return failure.hint("no server is listening there; check that it is running, and the port");
    }
    if is("ENOTFOUND") || is("EAI_AGAIN") {
        return failure.hint("the host name cannot be resolved; check its spelling and the network");
    }
    if is(TOO_LARGE) {
        return failure.hint("`--memory-limit MB` allows more memory");
    }
    if message == "the page host has ended" {
        return host_failure(error);
    }
    failure
}

/// Takes the trace from the page host, writes it and prints the table of functions.
fn record(
    pages: &PageProcess,
    window: &Value,
    output: &TracePath,
    arguments: &PageArguments,
) -> Result<(), Failure> {
    let no_trace = |error: CallError| Failure::job(format!("cannot get the trace: {}", error.message));
    let parameters = json!({ "window": window, "timeout": TRACE_TIMEOUT });
    let taken = pages.call("take profile", parameters).map_err(no_trace)?;
    let text = taken["trace"].as_str().unwrap_or_default();
    let (trace, problems) =
        w3c::read(text.as_bytes()).map_err(|error| Failure::job("cannot read the trace").because(&error))?;
    problems.list().iter().for_each(warn);
    let thread = [Thread::main(trace)];
    let path = output.path();
    let replacing = output::replacing(path);
    output::write(&thread, path).map_err(|error| {
        Failure::job(format!("cannot write the trace to {}", path.display())).because(&error)
    })?;
    // Source maps are applied to the table only; the file keeps the locations of the code that ran.
    let program = Program::new(thread.into(), (&arguments.source_maps, Clock::default()), None)?;
    let summary = Summary::of_merged(&program.merged);
    if arguments.buffer.is_some_and(|buffer| summary.samples() >= u64::from(buffer)) {
        warn("the sample buffer was full; later samples are missing");
    }
    if arguments.top > 0 {
        let shown = (&program.merged.trace, &summary);
        let (top, base) = (arguments.top, env::current_dir().unwrap_or_default());
        let mut err = BufWriter::new(io::stderr().lock());
        // The message about the trace is printed even if the table cannot be.
        let _ = tables::write_functions(&mut err, shown, &program.inferred, top, &base, Colors::for_stderr())
            .and_then(|()| write_sample_counts(&mut err, &summary))
            .and_then(|()| err.flush());
    }
    let extent = tables::extent(&program, &summary, None);
    say(format_args!("trace: {} ({extent}){replacing}", path.display()));
    Ok(())
}

/// How many samples are in the page's functions. A page's profiler does not see other work in its thread, so neither
/// does this one.
fn write_sample_counts(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let other = summary.idle.samples;
    let own = summary.samples() - other;
    writeln!(
        out,
        "samples: {own} in the page, {other} idle or elsewhere (other frames, cross-origin scripts)"
    )
}
