//! Profiles in tables of a test.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use selfprof_store::filter::Filter;
use selfprof_store::log::SegmentLimits;
use selfprof_store::profile::{CompactTrace, Labels, Profile, Sent, Span, SpanKind};
use selfprof_store::query::{Reader, Selection};
use selfprof_store::tables::Location;
use selfprof_store::{Options, Store};
use selfprof_trace::{Frame, LabelSet, Micros, Sample, Stack, Trace};

/// 2026-11-23 in microseconds.
pub const DAY: i64 = 1_795_392_000_000_000;

/// A profile that a test describes.
pub struct Visit<'a> {
    /// Its id.
    pub id: &'a str,
    pub session: &'a str,
    pub release: &'a str,
    /// When it was received.
    pub time: i64,
    pub rate: f64,
    /// The function of each sample, 10 ms apart, called by `main`.
    pub samples: &'a [&'a str],
    /// Names, starts and durations in milliseconds.
    pub measures: &'a [(&'a str, i64, i64)],
    /// From which sample on samples have a label `tenant` with this value.
    pub tenants: &'a [(usize, &'a str)],
}

impl Default for Visit<'_> {
    fn default() -> Self {
        Self {
            id: "",
            session: "",
            release: "1",
            time: DAY,
            rate: 1.0,
            samples: &[],
            measures: &[],
            tenants: &[],
        }
    }
}

impl Visit<'_> {
    fn profile(&self) -> Profile {
        let mut trace = Trace::new();
        let resource = Some(trace.resource("https://shop.example/app.js").unwrap());
        let stack = |trace: &mut Trace, name: &str, parent| {
            let name = trace.name(name).unwrap();
            let frame = trace.frame(Frame { name, resource, line: None, column: None }).unwrap();
            trace.stack(Stack { parent, frame }).unwrap()
        };
        let main = stack(&mut trace, "main", None);
        for (number, name) in self.samples.iter().enumerate() {
            let stack = (!name.is_empty()).then(|| stack(&mut trace, name, Some(main)));
            trace.push_sample(Sample { timestamp: Micros(number as u64 * 10_000), stack, marker: None });
        }
        let mut tenants = selfprof_trace::Labels::default();
        for &(sample, tenant) in self.tenants {
            let set = tenants.set(LabelSet::new([("tenant", tenant), ("trace_id", self.id)])).unwrap();
            tenants.change(Micros(sample as u64 * 10_000), Some(set));
        }
        trace.set_labels(Some(tenants));
        let span = |&(name, start, duration): &(&str, i64, i64)| Span {
            kind: SpanKind::Measure,
            name: name.to_owned(),
            start: start * 1_000,
            duration: duration * 1_000,
        };
        let labels = Labels { app: "shop".into(), release: self.release.into(), ..Labels::default() };
        let sent = Sent { id: Some(self.id), session: Some(self.session), rate: Some(self.rate) };
        let spans = self.measures.iter().map(span).collect();
        Profile::new(self.time, labels, &sent, spans, CompactTrace::of(&trace)).unwrap()
    }
}

/// Tables with these profiles.
pub async fn tables(folder: &Path, visits: &[Visit<'_>]) -> Reader {
    let tables = Location::parse(folder.join("tables").to_str().unwrap(), HashMap::new()).unwrap();
    let limits = SegmentLimits { bytes: u64::MAX, age: Duration::from_secs(3_600), in_turn: false };
    let store = Store::open(Options {
        tables: tables.clone(),
        log: folder.join("log"),
        limits,
        stacks_per_hour: 1_000,
        acknowledged: selfprof_store::Acknowledged::InLog,
    })
    .await
    .unwrap();
    let profiles: Vec<Profile> = visits.iter().map(Visit::profile).collect();
    assert_eq!(store.add(&profiles).await.unwrap().new, visits.len());
    store.close().await;
    Reader::open(&tables).await.unwrap()
}

/// All profiles of three days that meet a condition.
pub fn selection(filter: &str) -> Selection {
    let filter: Filter = filter.parse().unwrap();
    Selection { app: "shop".into(), from: DAY, to: DAY + 3 * 86_400_000_000, filter }
}
