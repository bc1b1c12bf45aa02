//! What a page sends: `{ id?, app, release, page, environment?, session?, rate?, browser?, device?, entries?, trace }`.

use std::borrow::Cow;

use selfprof_formats::{ReadOptions, w3c};
use selfprof_store::profile::{CompactTrace, Labels, Profile, Sent, Span, SpanKind, clean_text, clean_url};
use selfprof_trace::foreign::Limits;
use selfprof_trace::{EntryType, Trace};
use serde::Deserialize;
use serde_json::value::RawValue;

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
    #[serde(borrow)]
    entries: Option<&'a RawValue>,
    #[serde(borrow)]
    trace: &'a RawValue,
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
}

/// What a profile may have. A page that profiles for a minute at 10 ms has 6,000 samples.
const LIMITS: Limits = Limits {
    resources: 10_000,
    frames: 100_000,
    stacks: 200_000,
    samples: 200_000,
    entries: 20_000,
    text_bytes: 8 << 20,
};

/// The deepest stack. Deeper ones come of recursion without end.
const MAX_DEPTH: usize = 1_024;

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
}

impl<'a> Upload<'a> {
    /// With this application, if it does not name one.
    pub fn or_app(mut self, app: Option<&'a str>) -> Self {
        self.app = self.app.or(app.map(Cow::Borrowed));
        self
    }
    /// The profile, received at a time in microseconds since 1970.
    pub fn into_profile(self, time: i64, sender: &Sender) -> Result<Profile, Refused> {
        let text = |sent: &Option<Cow<str>>, other: &str| match sent.as_deref().map(clean_text) {
            Some(text) if !text.is_empty() => text,
            _ => other.to_owned(),
        };
        let app = match (self.app.as_deref(), &sender.app) {
            (Some(app), Some(of_key)) if app != of_key => return Err(Refused::OtherApp(clean_text(app))),
            (Some(app), _) => app.to_owned(),
            (None, Some(of_key)) => of_key.clone(),
            (None, None) => return Err(Refused::App("it is missing".into())),
        };
        check_app(&app).map_err(|error| Refused::App(error.to_string()))?;
        let options = ReadOptions { limits: LIMITS, ..ReadOptions::default() };
        let (trace, _) = w3c::read_with(self.trace.get().as_bytes(), &options)?;
        if trace.samples().is_empty() {
            return Err(Refused::Empty);
        }
        check_depth(&trace)?;
        let mut spans = spans_of(&trace);
        if let Some(entries) = self.entries {
            let sent: Vec<SentEntry> = serde_json::from_str(entries.get())?;
            spans.extend(sent.iter().take(MAX_SPANS).filter_map(span));
        }
        spans.truncate(MAX_SPANS);
        let page = self.page.as_deref().map(clean_url).filter(|page| !page.is_empty());
        let labels = Labels {
            app,
            release: text(&self.release, &sender.release),
            page: page.unwrap_or_else(|| sender.page.clone()),
            environment: text(&self.environment, ""),
            browser: text(&self.browser, &sender.browser),
            device: text(&self.device, &sender.device),
        };
        let sent = Sent { id: self.id.as_deref(), session: self.session.as_deref(), rate: self.rate };
        Ok(Profile::new(time, labels, &sent, spans, CompactTrace::of(&trace))?)
    }
}

/// A profile from a file that is only a trace.
pub fn of_trace(trace: &Trace, time: i64, sender: &Sender) -> Result<Profile, Refused> {
    let app = sender.app.clone().ok_or_else(|| Refused::App("it is missing".into()))?;
    check_app(&app).map_err(|error| Refused::App(error.to_string()))?;
    if trace.samples().is_empty() {
        return Err(Refused::Empty);
    }
    check_depth(trace)?;
    let labels = Labels {
        app,
        release: sender.release.clone(),
        page: sender.page.clone(),
        browser: sender.browser.clone(),
        device: sender.device.clone(),
        ..Labels::default()
    };
    Ok(Profile::new(time, labels, &Sent::default(), spans_of(trace), CompactTrace::of(trace))?)
}

/// The marks and measures that a trace has itself.
fn spans_of(trace: &Trace) -> Vec<Span> {
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

fn span(entry: &SentEntry) -> Option<Span> {
    let kind = SpanKind::of_entry_type(&entry.entry_type)?;
    let (start, duration) = (micros(entry.start_time), micros(entry.duration).max(0));
    Some(Span { kind, name: clean_text(&entry.name), start, duration })
}

/// Milliseconds as microseconds. What is no number of them counts as 0, and what is too large as the largest.
fn micros(millis: f64) -> i64 {
    (millis * 1_000.0).round() as i64
}

fn check_depth(trace: &Trace) -> Result<(), Refused> {
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
