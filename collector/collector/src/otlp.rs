//! OTLP profiles of programs, as exporters of OpenTelemetry send them.

use selfprof_formats::otlp::{ExportedThread, read_export};
use selfprof_formats::{ReadError, ReadOptions};
use selfprof_store::profile::{Labels, Profile, Sent, clean_text};

use crate::upload::{self, LIMITS, Refused, Sender};

/// What a request has.
#[derive(Debug, Default)]
pub struct Read {
    /// Its profiles.
    pub profiles: Vec<Profile>,
    /// Why others are not taken in.
    pub refused: Vec<String>,
}

/// Reads a request, received at a time in microseconds since 1970.
pub fn read(bytes: &[u8], time: i64, sender: &Sender) -> Result<Read, ReadError> {
    let export = read_export(bytes, &ReadOptions { limits: LIMITS, ..ReadOptions::default() })?;
    let without_times = export.without_times.iter();
    let refused =
        without_times.map(|kind| format!("a profile of {:?}, which is not a time", clean_text(kind)));
    let mut read = Read { profiles: Vec::new(), refused: refused.collect() };
    for thread in &export.threads {
        match profile(thread, time, sender) {
            Ok(profile) => read.profiles.push(profile),
            // A profiler that looks regularly has nothing to say now and then.
            Err(Refused::Empty) => {}
            Err(reason) => read.refused.push(reason.to_string()),
        }
    }
    Ok(read)
}

fn profile(thread: &ExportedThread, time: i64, sender: &Sender) -> Result<Profile, Refused> {
    let attribute = |name: &str| {
        let found = thread.resource.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    // What SDKs send for programs that do not name themselves.
    let service = attribute("service.name").filter(|name| !name.starts_with("unknown_service"));
    let environment = attribute("deployment.environment.name").or(attribute("deployment.environment"));
    let labels = Labels {
        app: sender.app_of(service)?,
        release: attribute("service.version").map(clean_text).unwrap_or_default(),
        environment: environment.map(clean_text).unwrap_or_default(),
        device: "server".into(),
        ..Labels::default()
    };
    let process = || Some(format!("{} {}", attribute("host.name")?, attribute("process.pid")?));
    let session = attribute("service.instance.id").map(str::to_owned).or_else(process);
    let sent = Sent { id: thread.id.as_deref(), session: session.as_deref(), rate: None };
    let trace = &thread.thread.trace;
    upload::profile(time, labels, &sent, upload::spans_of(trace), trace)
}
