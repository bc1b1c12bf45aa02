//! pprof for Pyroscope's `/ingest`, as the client of Pyroscope for Node.js sends it.

use std::sync::Arc;

use selfprof_formats::{WriteOptions, pprof};
use selfprof_trace::{LabelSet, Labels};

use super::endpoint::Endpoint;
use super::{Output, Receipt, SendError, host_name};
use crate::batch::{Batch, Contents};
use crate::settings::Settings;

/// The labels that each request has of its own.
const OF_REQUESTS: [&str; 2] = ["request", "trace_id"];

/// A Pyroscope server.
pub struct Pyroscope {
    endpoint: Endpoint,
    /// The name of the application with its labels.
    name: String,
}

impl Pyroscope {
    /// The server that the settings name.
    pub fn new(settings: &Arc<Settings>) -> Self {
        let endpoint = Endpoint::new(settings, "/ingest").with_bearer(settings.key.as_deref());
        Self { endpoint, name: name(settings, &host_name()) }
    }
}

impl Output for Pyroscope {
    fn send(&mut self, batch: &Batch) -> Result<Receipt, SendError> {
        let mut contents = Contents::read(batch, &batch.parts, None)?;
        let receipt = Receipt { corrupt: std::mem::take(&mut contents.corrupt), remark: None };
        let Some(header) = &contents.header else { return Ok(receipt) };
        for thread in &mut contents.threads {
            let labels = thread.trace.labels().map(pyroscope_labels);
            thread.trace.set_labels(labels);
            thread.trace.add_gc_frames();
        }
        let mut body = Vec::new();
        pprof::write(&contents.threads, &mut body, WriteOptions { gzip: true })
            .map_err(|error| SendError::Never { reason: error.to_string() })?;
        let (from, until) = contents.times;
        let mut url = self.endpoint.url.clone();
        url.query_pairs_mut()
            .append_pair("format", "pprof")
            .append_pair("from", &((from / 1e3).floor() as u64).to_string())
            .append_pair("until", &((until / 1e3).ceil() as u64).to_string())
            .append_pair("name", &self.name)
            .append_pair("spyName", "nodespy")
            .append_pair("sampleRate", &1_000_000_u64.div_ceil(header.interval.0.max(1)).to_string());
        self.endpoint.post(url, &[("content-type", "application/octet-stream")], &body)?;
        Ok(receipt)
    }
}

/// The labels as Pyroscope takes them. Each set of labels is a series there, except for the span, so what each request
/// has of its own is left out. Names have letters, digits and `_`.
fn pyroscope_labels(labels: &Labels) -> Labels {
    let plain = |name: &str| -> String {
        name.chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
            .collect()
    };
    labels.map(|set| {
        let kept = set.iter().filter(|(name, _)| !OF_REQUESTS.contains(name));
        LabelSet::new(kept.map(|(name, value)| (plain(name), value)))
    })
}

/// The application and its labels, such as `shop{environment=production,hostname=a,release=1.4}`.
fn name(settings: &Settings, host: &str) -> String {
    // What separates names and values has no other meaning there.
    let plain = |text: &str| -> String {
        let is_plain = |character: char| !character.is_control() && !"{}=, \"".contains(character);
        text.chars().map(|character| if is_plain(character) { character } else { '_' }).collect()
    };
    let labels = [
        ("environment", settings.environment.as_deref()),
        ("hostname", Some(host)),
        ("release", settings.release.as_deref()),
    ];
    let labels: Vec<String> = labels
        .into_iter()
        .filter_map(|(name, value)| {
            Some(format!("{name}={}", plain(value.filter(|value| !value.is_empty())?)))
        })
        .collect();
    format!("{}{{{}}}", plain(&settings.app), labels.join(","))
}

#[cfg(test)]
mod tests {
    use selfprof_trace::Micros;

    use super::*;

    #[test]
    fn what_each_request_has_of_its_own_is_left_out() {
        let mut labels = Labels::default();
        for (time, list) in [
            (1, vec![("http.route", "/cart"), ("trace_id", "1"), ("span_id", "a")]),
            (2, vec![("http.route", "/cart"), ("trace_id", "2"), ("span_id", "a")]),
            (3, vec![("request", "7")]),
        ] {
            let set = labels.set(LabelSet::new(list)).ok();
            labels.change(Micros(time), set);
        }
        let own = pyroscope_labels(&labels);
        let sets: Vec<Vec<_>> = own.sets().map(|set| set.iter().collect()).collect();
        assert_eq!(sets, [[("http_route", "/cart"), ("span_id", "a")]]);
        let times: Vec<_> =
            own.changes().iter().map(|change| (change.timestamp.0, change.labels.is_some())).collect();
        assert_eq!(times, [(1, true), (3, false)]);
    }

    #[test]
    fn labels_cannot_break_out() {
        let json = r#"{ "output": "http://pyroscope:4040", "app": "a{b", "release": "1.4, x=\"2\"", "environment": "" }"#;
        let settings: Settings = serde_json::from_str(json).unwrap();
        assert_eq!(name(&settings, "host"), "a_b{hostname=host,release=1.4__x__2_}");
    }
}
