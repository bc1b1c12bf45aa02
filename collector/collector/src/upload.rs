//! What a page sends: `{ id?, app, release, page, environment?, session?, rate?, browser?, device?, entries?, trace }`,
//! or with `coverage` in place of `trace` how it is profiled, or why it cannot be.

use std::borrow::Cow;
use std::collections::HashMap;

use selfprof_formats::{ReadOptions, w3c};
use selfprof_store::coverage::{Coverage, Report};
use selfprof_store::profile::{CompactTrace, Labels, Profile, Sent, Span, SpanKind, clean_text, clean_url};
use selfprof_trace::foreign::{LimitExceeded, Limits};
use selfprof_trace::{EntryType, Trace};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::arguments::Moment;
use crate::config::check_app;

/// What is sent.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with app, release, page and trace")]
pub struct Upload<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    app: Option<Cow<'a, str>>,
    #[serde(borrow)]
    release: Option<Cow<'a, str>>,
    #[serde(borrow)]
    page: Option<Cow<'a, str>>,
    #[serde(borrow)]
    environment: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    browser: Option<Cow<'a, str>>,
    #[serde(borrow)]
    device: Option<Cow<'a, str>>,
    rate: Option<f64>,
    /// When it was recorded. Only files are believed.
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    entries: Option<&'a RawValue>,
    #[serde(borrow)]
    coverage: Option<Cow<'a, str>>,
    #[serde(borrow)]
    trace: Option<&'a RawValue>,
}

/// An upload, read.
pub enum Sending {
    /// A profile.
    Profile(Box<Profile>),
    /// How a session is profiled, or why it cannot be.
    Coverage(Report),
}

/// What is known of a sender who does not say it.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// The application of its key.
    pub app: Option<String>,
    /// From its request.
    pub browser: String,
    /// From its request.
    pub device: String,
    /// For files that do not name one.
    pub release: String,
    /// For files that do not name one.
    pub page: String,
}

/// A profile that is not taken in.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is not what pages send.
    #[error("this is not a profile: {0}")]
    Json(#[from] serde_json::Error),
    /// Its trace.
    #[error("trace: {0}")]
    Trace(#[from] w3c::ReadError),
    /// Nothing was recorded.
    #[error("trace has no samples")]
    Empty,
    /// Neither of the two.
    #[error("this is not a profile: trace is missing")]
    NoTrace,
    /// Its coverage.
    #[error("coverage is {0:?}, which is none of native, polyfill, no-api, not-allowed and failed")]
    Coverage(String),
    /// Whose it is.
    #[error("app: {0}")]
    App(String),
    /// It is of another application than its key.
    #[error("app is {0:?}, but the key is not one of its keys")]
    OtherApp(String),
    /// Its rate.
    #[error(transparent)]
    Rate(#[from] selfprof_store::profile::NotAProbability),
    /// Its stacks.
    #[error("trace has a stack of more than {MAX_DEPTH} frames")]
    Deep,
    /// Its time.
    #[error("time is {0}, which is neither a number of milliseconds nor a text such as 2026-11-20T08:00:00Z")]
    Time(String),
    /// Its lists.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

/// What a profile may have. A page that profiles for a minute at 10 ms has 6,000 samples.
pub const LIMITS: Limits = Limits {
    resources: 10_000,
    frames: 100_000,
    stacks: 200_000,
    samples: 200_000,
    entries: 20_000,
    text_bytes: 8 << 20,
};

/// The deepest stack. Deeper ones come of recursion without end.
pub const MAX_DEPTH: usize = 1_024;

/// The spans that are kept of a profile.
const MAX_SPANS: usize = 20_000;

/// A performance entry as `toJSON()` gives it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentEntry<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    entry_type: Cow<'a, str>,
    #[serde(default)]
    start_time: f64,
    #[serde(default)]
    duration: f64,
    /// Of events: 0 if it is not part of an interaction.
    interaction_id: Option<f64>,
}

impl<'a> Upload<'a> {
    /// With this application, if it does not name one.
    pub fn or_app(mut self, app: Option<&'a str>) -> Self {
        self.app = self.app.or(app.map(Cow::Borrowed));
        self
    }

    /// Whether there is a trace in it.
    pub fn has_trace(&self) -> bool {
        self.trace.is_some()
    }

    /// Whether it is no profile, but says how a session is profiled, or why it cannot be.
    pub fn is_coverage(&self) -> bool {
        self.coverage.is_some()
    }

    /// When it was recorded, in microseconds since 1970: a text such as `2026-11-20T08:00:00Z`, or a number of
    /// milliseconds.
    pub fn time(&self, now: i64) -> Result<Option<i64>, Refused> {
        let Some(time) = self.time.filter(|time| time.get() != "null") else { return Ok(None) };
        let error = || Refused::Time(clean_text(time.get()));
        if let Ok(text) = serde_json::from_str::<Cow<str>>(time.get()) {
            let moment: Moment = text.parse().map_err(|_| error())?;
            return Ok(Some(moment.resolve(now)));
        }
        let millis: f64 = serde_json::from_str(time.get()).map_err(|_| error())?;
        Ok(Some(micros(millis)))
    }

    /// The profile or the coverage, received at a time in microseconds since 1970.
    pub fn read(self, time: i64, sender: &Sender) -> Result<Sending, Refused> {
        let Some(coverage) = &self.coverage else {
            return Ok(Sending::Profile(self.into_profile(time, sender)?.into()));
        };
        let known = Coverage::ALL.into_iter().find(|known| known.as_str() == coverage);
        let coverage = known.ok_or_else(|| Refused::Coverage(clean_text(coverage)))?;
        let report = Report::new(time, self.labels(sender)?, coverage, self.id.as_deref(), self.rate)?;
        Ok(Sending::Coverage(report))
    }

    /// The profile, received at a time in microseconds since 1970.
    pub fn into_profile(self, time: i64, sender: &Sender) -> Result<Profile, Refused> {
        let labels = self.labels(sender)?;
        let trace = self.trace.ok_or(Refused::NoTrace)?;
        let options = ReadOptions { limits: LIMITS, ..ReadOptions::default() };
        let (trace, _) = w3c::read_with(trace.get().as_bytes(), &options)?;
        let mut spans = spans_of(&trace);
        if let Some(entries) = self.entries {
            let sent: Vec<SentEntry> = serde_json::from_str(entries.get())?;
            spans.extend(longest_of_interactions(&sent).filter_map(span));
        }
        let sent = Sent { id: self.id.as_deref(), session: self.session.as_deref(), rate: self.rate };
        profile(time, labels, &sent, spans, &trace)
    }

    fn labels(&self, sender: &Sender) -> Result<Labels, Refused> {
        let text = |sent: &Option<Cow<str>>, other: &str| match sent.as_deref().map(clean_text) {
            Some(text) if !text.is_empty() => text,
            _ => other.to_owned(),
        };
        let page = self.page.as_deref().map(clean_url).filter(|page| !page.is_empty());
        Ok(Labels {
            app: sender.app_of(self.app.as_deref())?,
            release: text(&self.release, &sender.release),
            page: page.unwrap_or_else(|| sender.page.clone()),
            environment: text(&self.environment, ""),
            browser: text(&self.browser, &sender.browser),
            device: text(&self.device, &sender.device),
        })
    }
}

impl Sender {
    /// The application of a profile that names this one, or none.
    pub fn app_of(&self, named: Option<&str>) -> Result<String, Refused> {
        let app = match (named, &self.app) {
            (Some(app), Some(of_key)) if app != of_key => return Err(Refused::OtherApp(clean_text(app))),
            (Some(app), _) => app.to_owned(),
            (None, Some(of_key)) => of_key.clone(),
            (None, None) => return Err(Refused::App("it is missing".into())),
        };
        check_app(&app).map_err(|error| Refused::App(error.to_string()))?;
        Ok(app)
    }
}

/// A profile of a trace, unless there is too much or nothing in it.
pub fn profile(
    time: i64,
    labels: Labels,
    sent: &Sent,
    mut spans: Vec<Span>,
    trace: &Trace,
) -> Result<Profile, Refused> {
    check_trace(trace)?;
    spans.truncate(MAX_SPANS);
    Ok(Profile::new(time, labels, sent, spans, CompactTrace::of(trace))?)
}

/// A profile from a file that is only a trace.
pub fn of_trace(trace: &Trace, time: i64, sender: &Sender) -> Result<Profile, Refused> {
    let labels = Labels {
        app: sender.app_of(None)?,
        release: sender.release.clone(),
        page: sender.page.clone(),
        browser: sender.browser.clone(),
        device: sender.device.clone(),
        ..Labels::default()
    };
    profile(time, labels, &Sent::default(), spans_of(trace), trace)
}

/// The marks and measures that a trace has itself.
pub fn spans_of(trace: &Trace) -> Vec<Span> {
    let Some(entries) = trace.entries() else { return Vec::new() };
    let kind = |entry_type| match entry_type {
        EntryType::Mark => SpanKind::Mark,
        EntryType::Measure => SpanKind::Measure,
    };
    let span = |entry: &selfprof_trace::Entry| Span {
        kind: kind(entry.entry_type),
        name: clean_text(&entries.names()[entry.name]),
        start: micros(entry.start_time.get()),
        duration: micros(entry.duration.get()).max(0),
    };
    entries.list().iter().map(span).collect()
}

/// All entries, but of each interaction only the longest event, for which its user waits. Events that are no
/// interactions are left out.
fn longest_of_interactions<'s, 'a>(sent: &'s [SentEntry<'a>]) -> impl Iterator<Item = &'s SentEntry<'a>> {
    let sent = &sent[..sent.len().min(MAX_SPANS)];
    let mut longest: HashMap<u64, usize> = HashMap::new();
    let interaction = |entry: &SentEntry| entry.interaction_id.filter(|&id| id != 0.0).map(f64::to_bits);
    for (index, entry) in sent.iter().enumerate() {
        if let Some(id) = interaction(entry) {
            let known = longest.entry(id).or_insert(index);
            if sent[*known].duration < entry.duration {
                *known = index;
            }
        }
    }
    let is_longest = move |index: usize, entry: &SentEntry| match interaction(entry) {
        Some(id) => longest.get(&id) == Some(&index),
        None => entry.interaction_id.is_none() || entry.entry_type != "event",
    };
    sent.iter().enumerate().filter(move |(index, entry)| is_longest(*index, entry)).map(|(_, entry)| entry)
}

fn span(entry: &SentEntry) -> Option<Span> {
    let kind = SpanKind::of_entry_type(&entry.entry_type)?;
    let (start, duration) = (micros(entry.start_time), micros(entry.duration).max(0));
    Some(Span { kind, name: clean_text(&entry.name), start, duration })
}

/// Milliseconds as microseconds. What is no number of them counts as 0, and what is too large as the largest.
fn micros(millis: f64) -> i64 {
    (millis * 1_000.0).round() as i64
}

fn check_trace(trace: &Trace) -> Result<(), Refused> {
    if trace.samples().is_empty() {
        return Err(Refused::Empty);
    }
    let mut depths: Vec<usize> = Vec::with_capacity(trace.stacks().len());
    for (_, stack) in trace.stacks().iter() {
        let depth = stack.parent.map_or(1, |parent| depths[parent.index()] + 1);
        if depth > MAX_DEPTH {
            return Err(Refused::Deep);
        }
        depths.push(depth);
    }
    Ok(())
}
