//! JSON lines for `selfprof-collector`.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use selfprof_formats::WriteOptions;
use selfprof_formats::w3c;
use selfprof_trace::{Micros, Trace};
use serde::{Deserialize, Serialize};
use url::Url;

use super::endpoint::Endpoint;
use super::{Output, Receipt, SendError, host_name};
use crate::batch::{self, Batch, PartError, Recorded};
use crate::folder::names::Part;
use crate::pages::{self, Page};
use crate::settings::Settings;

/// A request is sent when it has so many bytes. The collector takes 8 MiB, 32 MiB after decompression, and as many
/// profiles as an application may send in a second.
const MAX_COMPRESSED: usize = 4 << 20;
const MAX_BYTES: u64 = 16 << 20;
const MAX_LINES: usize = 20;

/// How long a batch of which requests were taken in waits for the collector to take in the next one.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often it waits.
const MAX_PAUSES: usize = 60;

/// What a profile may have. The collector takes 200,000 samples, 100,000 frames, and 200,000 stacks.
const MAX_SAMPLES: usize = 100_000;
const MAX_FRAMES: usize = 100_000;
const MAX_STACKS: usize = 200_000;

/// A collector.
pub struct Collector {
    endpoint: Endpoint,
    settings: Arc<Settings>,
    host: String,
}

impl Collector {
    /// The collector that the settings name.
    pub fn new(settings: &Arc<Settings>) -> Self {
        let mut endpoint = Endpoint::new(settings, "/v1/profiles");
        if let Some(key) = &settings.key {
            endpoint.url = with_key(&endpoint.url, key);
        }
        Self { endpoint, settings: Arc::clone(settings), host: host_name() }
    }

    /// Adds the lines of a part, and sends those that make a request full.
    fn add(
        &self,
        part: &Part,
        recorded: Recorded,
        body: &mut Body,
        receipt: &mut Receipt,
    ) -> Result<(), SendError> {
        let Part { number, process, thread } = part;
        let origin = recorded.header.time_origin_ms;
        let node = recorded.header.node.trim_start_matches('v').split('.').next().unwrap_or_default();
        let mut count = 0_u64;
        let mut head = Head {
            id: String::new(),
            app: &self.settings.app,
            release: self.settings.release.as_deref(),
            environment: self.settings.environment.as_deref(),
            page: None,
            session: format!("{} {process} {number}", self.host),
            browser: format!("Node.js {node}"),
            device: "server",
            time: recorded.times().map(|(start, _)| start.round()),
        };
        let trace = recorded.thread.trace;
        let pages = match self.settings.labels {
            true => pages::divide(trace),
            false => vec![Page { route: None, trace }],
        };
        for Page { route, trace } in pages {
            head.page = route;
            for trace in parts_within_limits(trace) {
                head.id = format!("{process}.{thread}.{number}.{origin}.{count}");
                count += 1;
                body.push(&head, &trace)?;
                if body.is_full() {
                    self.send_body(body, receipt)?;
                }
            }
        }
        Ok(())
    }

    fn send_body(&self, body: &mut Body, receipt: &mut Receipt) -> Result<(), SendError> {
        let Some(bytes) = body.take()? else { return Ok(()) };
        let headers = [("content-type", "application/x-ndjson"), ("content-encoding", "gzip")];
        let mut pauses = 0;
        let answer = loop {
            match self.endpoint.post(self.endpoint.url.clone(), &headers, &bytes) {
                // The rate of the application: if all began anew, the same requests would come first again.
                Err(SendError::Later { after: Some(after), .. })
                    if body.requests > 0 && pauses < MAX_PAUSES && after <= LONGEST_PAUSE =>
                {
                    pauses += 1;
                    thread::sleep(after.max(Duration::from_millis(100)));
                }
                result => break result?,
            }
        };
        body.requests += 1;
        if receipt.remark.is_none() {
            receipt.remark = refused(&answer);
        }
        Ok(())
    }
}

impl Output for Collector {
    fn send(&mut self, batch: &Batch) -> Result<Receipt, SendError> {
        let mut receipt = Receipt::default();
        let mut body = Body::new();
        for part in &batch.parts {
            match batch::read(&batch.folder, &part.file_name()) {
                Ok(recorded) => self.add(part, recorded, &mut body, &mut receipt)?,
                Err(PartError::Gone | PartError::Empty) => {}
                Err(PartError::Corrupt(reason)) => receipt.corrupt.push((part.clone(), reason)),
                Err(PartError::Io(error)) => return Err(error.into()),
            }
        }
        self.send_body(&mut body, &mut receipt)?;
        Ok(receipt)
    }
}

/// The URL with a key, unless it has one.
fn with_key(url: &Url, key: &str) -> Url {
    let mut url = url.clone();
    if !url.query_pairs().any(|(name, _)| name == "key") {
        url.query_pairs_mut().append_pair("key", key);
    }
    url
}

/// Why the collector has not taken in some of the profiles, of which it has taken in others.
fn refused(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        #[serde(default)]
        refused: Vec<String>,
    }
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    let first = answer.refused.first()?;
    Some(format!("the collector has refused {} profiles: {first}", answer.refused.len()))
}

/// A line without its trace.
#[derive(Serialize)]
struct Head<'a> {
    id: String,
    app: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    session: String,
    browser: String,
    device: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
}

/// The lines of a request.
struct Body {
    out: Counted<GzEncoder<Vec<u8>>>,
    lines: usize,
    /// The requests of the batch before.
    requests: usize,
}

impl Body {
    fn new() -> Self {
        let out = Counted { out: GzEncoder::new(Vec::new(), Compression::default()), count: 0 };
        Self { out, lines: 0, requests: 0 }
    }

    fn push(&mut self, head: &Head<'_>, trace: &Trace) -> io::Result<()> {
        let head = serde_json::to_string(head)?;
        // Another member follows.
        self.out.write_all(head.trim_end_matches('}').as_bytes())?;
        self.out.write_all(b",\"trace\":")?;
        w3c::write(trace, &mut self.out, WriteOptions::default())?;
        self.out.write_all(b"}\n")?;
        self.lines += 1;
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.lines >= MAX_LINES
            || self.out.count >= MAX_BYTES
            || self.out.out.get_ref().len() >= MAX_COMPRESSED
    }

    /// The compressed lines, if there are any. The next ones begin a new request.
    fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        let full = std::mem::replace(self, Self { requests: self.requests, ..Self::new() });
        let bytes = full.out.out.finish()?;
        Ok((full.lines > 0).then_some(bytes))
    }
}

struct Counted<W> {
    out: W,
    count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The trace, or parts of it in the order of time, none of which is too large for the collector.
fn parts_within_limits(trace: Trace) -> Vec<Trace> {
    let is_small = trace.samples().len() <= MAX_SAMPLES
        && trace.frames().len() <= MAX_FRAMES
        && trace.stacks().len() <= MAX_STACKS;
    let middle = trace.samples().get(trace.samples().len() / 2).map(|sample| sample.timestamp);
    let (Some(middle), false) = (middle, is_small) else { return vec![trace] };
    if trace.samples().first().is_some_and(|first| first.timestamp == middle) {
        // It cannot be divided by time.
        return vec![trace];
    }
    let half = |is_wanted: &dyn Fn(Micros) -> bool| {
        let mut half = trace.clone();
        half.retain_times(is_wanted);
        half.narrowed()
    };
    let mut parts = parts_within_limits(half(&|time| time < middle));
    parts.extend(parts_within_limits(half(&|time| time >= middle)));
    parts
}

#[cfg(test)]
mod tests {
    use selfprof_trace::Sample;

    use super::*;

    #[test]
    fn long_traces_are_divided() {
        let mut trace = Trace::new();
        for time in 0..250_000 {
            trace.push_sample(Sample { timestamp: Micros(time), stack: None, marker: None });
        }
        let parts = parts_within_limits(trace);
        assert!(parts.iter().all(|part| part.samples().len() <= MAX_SAMPLES));
        let times = parts.iter().flat_map(|part| part.samples()).map(|sample| sample.timestamp.0);
        assert!(times.eq(0..250_000));
    }

    #[test]
    fn traces_at_one_time_are_not_divided() {
        let mut trace = Trace::new();
        for _ in 0..250_000 {
            trace.push_sample(Sample { timestamp: Micros(5), stack: None, marker: None });
        }
        assert_eq!(parts_within_limits(trace).len(), 1);
    }

    #[test]
    fn a_key_in_the_url_stays() {
        let check = |url: &str, expected: &str| {
            assert_eq!(with_key(&Url::parse(url).unwrap(), "a&b").as_str(), expected);
        };
        check("http://a/v1/profiles", "http://a/v1/profiles?key=a%26b");
        check("http://a/v1/profiles?key=7", "http://a/v1/profiles?key=7");
    }

    #[test]
    fn refusals_are_read() {
        assert_eq!(refused(b"{\"accepted\":1,\"known\":0,\"refused\":[]}"), None);
        assert_eq!(refused(b"<html>"), None);
        let text = refused(br#"{"refused":["profile 1: trace has no samples"]}"#).unwrap();
        assert_eq!(text, "the collector has refused 1 profiles: profile 1: trace has no samples");
    }
}
