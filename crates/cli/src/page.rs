//! `selfprof page`: loads a page without a browser, and tells what it said and where its time went.

mod console;
mod place;

use std::env;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use selfprof_formats::w3c;
use selfprof_trace::summary::Summary;
use selfprof_webdriver::{CallError, Pages};
use serde_json::{Value, json};

use crate::arguments::{PageArguments, Wait};
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::pages::{Hosting, PageProcess};
use crate::paint::Paint;
use crate::source_maps;
use crate::table;
use crate::talk::{say, warn};

use console::{Console, Counts};
use place::Place;

/// How long to wait for a trace, in milliseconds: a page that works on is not waited for.
const TRACE_TIMEOUT: u64 = 30_000;

/// Runs the command. All that can be known to be wrong is said before a page is loaded.
pub fn page(arguments: &PageArguments) -> Result<ExitCode, Failure> {
    let place = Place::find(&arguments.page)?;
    let output = match (&arguments.output, arguments.profile_load) {
        (None, false) => None,
        (asked, _) => Some(Output::new(asked.as_deref(), &place.name())?),
    };
    let hosting = Hosting::find(&arguments.host)?;
    let counts = Arc::new(Counts::default());
    let mut console = Console::new(Arc::clone(&counts));
    let options = json!({ "ignoreCertificateErrors": arguments.host.ignore_certificate_errors });
    let pages = hosting.start(options, move |event| console.tell(&event))?;

    let opened = pages.call("open", json!({ "url": null })).map_err(|error| lost(&error))?;
    let window = &opened["window"];
    let profile = output.is_some().then(|| {
        let mut profile = json!({ "sampleInterval": arguments.interval });
        if let Some(buffer) = arguments.buffer {
            profile["maxBufferSize"] = buffer.into();
        }
        profile
    });
    let mut wish = json!({
        "window": window,
        "url": place.url(),
        "waitUntil": arguments.wait.event(),
        "timeout": arguments.timeout,
    });
    if let Some(profile) = profile {
        wish["profile"] = profile;
    }
    if let Some(root) = &arguments.root {
        wish["root"] = root.to_string_lossy().into();
    }
    let loaded = pages.call("navigate", wish);
    if let (Ok(_), Wait::Time(time)) = (&loaded, arguments.wait) {
        thread::sleep(Duration::from_millis(time));
    }

    let recorded = match &output {
        // Of a page that did not come to its end, too: what kept it is what one wants to see.
        Some(output) if loaded.is_ok() || is_late(&loaded) => record(&pages, window, output, arguments),
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
    match response["status"].as_u64() {
        Some(status @ 400..) => Err(Failure::job(format!("{} answered {status}", arguments.page))
            .hint("what the server sent instead was loaded; check the address")),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn is_late(loaded: &Result<Value, CallError>) -> bool {
    loaded.as_ref().is_err_and(|error| error.code == "timeout")
}

fn lost(error: &CallError) -> Failure {
    Failure::job(error.message.clone()).hint("what Node said when it ended stands above; please report it")
}

/// Why a page was not loaded, with what may help.
fn explain(error: &CallError, arguments: &PageArguments) -> Failure {
    let message = &error.message;
    let failure = Failure::job(message.clone());
    let is = |what: &str| message.contains(what);
    if error.code == "timeout" {
        return failure.hint(match arguments.wait {
            Wait::Idle => "`--wait load` does not wait for what the page does after it has loaded; `--timeout MS` gives it more time",
            _ => "`--timeout MS` gives it more time; a script in an endless loop never ends",
        });
    }
    if error.code == "insecure certificate" {
        return failure.hint("`--ignore-certificate-errors` loads it all the same");
    }
    if is("ECONNREFUSED") {
        return failure.hint("nothing listens there: is the server running, and is the port right?");
    }
    if is("ENOTFOUND") || is("EAI_AGAIN") {
        return failure.hint("the host's name has no address: check its spelling, and the network");
    }
    if message == "the page host has ended" {
        return lost(error);
    }
    failure
}

/// Takes the recording, writes it and shows where time went.
fn record(
    pages: &PageProcess,
    window: &Value,
    output: &Output,
    arguments: &PageArguments,
) -> Result<(), Failure> {
    let lacks = |error: CallError| Failure::job(format!("there is no recording: {}", error.message));
    let taken =
        pages.call("take profile", json!({ "window": window, "timeout": TRACE_TIMEOUT })).map_err(lacks)?;
    let text = taken["trace"].as_str().unwrap_or_default();
    let (trace, problems) = w3c::read(text.as_bytes())
        .map_err(|error| Failure::job("cannot read the recording").because(&error))?;
    problems.list().iter().for_each(warn);
    let summary = Summary::of(&trace);
    if arguments.buffer.is_some_and(|buffer| summary.samples() >= u64::from(buffer)) {
        warn("the sample buffer was full, so the trace lacks what came later");
    }
    if arguments.top > 0 {
        // Stderr may be closed, and the trace is to be written all the same.
        // The trace that is written has the places of the code that ran; people know their sources.
        let placed = source_maps::placed(&trace, &arguments.source_maps);
        let placed_summary = placed.as_ref().map(Summary::of);
        let shown = placed.as_ref().zip(placed_summary.as_ref()).unwrap_or((&trace, &summary));
        let base = env::current_dir().unwrap_or_default();
        let mut err = BufWriter::new(io::stderr().lock());
        let _ = table::write_functions(&mut err, shown, arguments.top, &base, Paint::for_stderr())
            .and_then(|()| write_shares(&mut err, &summary))
            .and_then(|()| err.flush());
    }
    let path = output.main();
    output::write(&trace, path).map_err(|error| {
        Failure::job(format!("cannot write the trace to {}", path.display())).because(&error)
    })?;
    say(format_args!("trace: {} ({})", path.display(), table::extent(&summary, summary.interval)));
    Ok(())
}

/// Which samples the page's own functions are in. What others do in its thread, it is not told, and neither is its user.
fn write_shares(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let elsewhere = summary.idle.samples;
    let own = summary.samples() - elsewhere;
    writeln!(
        out,
        "samples: {own} in the page, {elsewhere} idle or elsewhere (other frames, scripts of other origins)"
    )
}
