//! Answers as JSON, with the member names of `selfprof top --json`.

pub mod coverage;
pub mod profiles;
pub mod series;
pub mod spans;
pub mod timeline;

use selfprof_significance::{FunctionComparison, Interval, Verdict};
use selfprof_store::query::comparison::{ComparedFunction, Comparison, Extent};
use selfprof_store::query::flame_graph::FlameGraph;
use selfprof_store::query::functions::Functions;
use selfprof_store::query::values::ColumnValue;
use selfprof_store::query::{FrameInfo, Minified, StackSums};
use serde::{Deserialize, Serialize};

/// The version of the JSON.
const VERSION: u32 = 1;

/// The functions of a selection.
#[derive(Debug, Serialize, Deserialize)]
pub struct FunctionsAnswer {
    pub version: u32,
    /// How many profiles were counted, and from how many sessions.
    pub profiles: u64,
    pub sessions: u64,
    pub samples: i64,
    pub busy: Tally,
    pub idle: Tally,
    pub functions: Vec<FunctionAnswer>,
}

/// A time in milliseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tally {
    pub time: f64,
}

/// A function; times in milliseconds, divided by the sampling probability.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionAnswer {
    #[serde(flatten)]
    pub function: FunctionName,
    pub self_time: f64,
    pub total_time: f64,
    pub self_samples: i64,
    pub total_samples: i64,
}

/// Which function it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionName {
    pub name: String,
    pub resource: Option<String>,
    pub line: Option<i32>,
    pub column: Option<i32>,
}

impl From<&FrameInfo> for FunctionName {
    fn from(frame: &FrameInfo) -> Self {
        Self {
            name: frame.name.clone(),
            resource: (!frame.file.is_empty()).then(|| frame.file.clone()),
            line: frame.line,
            column: frame.column,
        }
    }
}

/// Microseconds as milliseconds.
fn millis(micros: i64) -> f64 {
    micros as f64 / 1_000.0
}

impl FunctionsAnswer {
    /// The first `top` functions of these sums.
    pub fn of(sums: &StackSums, top: usize) -> Self {
        let functions = Functions::of(sums);
        let rows = functions.rows.iter().take(top).map(|row| FunctionAnswer {
            function: FunctionName::from(&row.function),
            self_time: millis(row.self_time),
            total_time: millis(row.total_time),
            self_samples: row.self_samples,
            total_samples: row.total_samples,
        });
        Self {
            version: VERSION,
            profiles: sums.profiles,
            sessions: sums.sessions,
            samples: functions.samples,
            busy: Tally { time: millis(functions.busy) },
            idle: Tally { time: millis(functions.idle) },
            functions: rows.collect(),
        }
    }
}

/// A tree of calls.
#[derive(Debug, Serialize, Deserialize)]
pub struct FlameGraphAnswer {
    pub version: u32,
    pub profiles: u64,
    pub sessions: u64,
    /// The functions that nodes name by their index.
    pub functions: Vec<FunctionName>,
    /// The calls; a caller comes before what it calls.
    pub nodes: Vec<NodeAnswer>,
}

/// A function as it was called by its parent; times in milliseconds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeAnswer {
    pub function: usize,
    pub parent: Option<usize>,
    pub self_time: f64,
    pub total_time: f64,
}

impl From<&StackSums> for FlameGraphAnswer {
    fn from(sums: &StackSums) -> Self {
        let graph = FlameGraph::of(sums);
        let nodes = graph.nodes.iter().map(|node| NodeAnswer {
            function: node.function,
            parent: node.parent,
            self_time: millis(node.self_time),
            total_time: millis(node.total_time),
        });
        Self {
            version: VERSION,
            profiles: sums.profiles,
            sessions: sums.sessions,
            functions: graph.functions.iter().map(FunctionName::from).collect(),
            nodes: nodes.collect(),
        }
    }
}

/// The applications that have profiles.
#[derive(Debug, Serialize)]
pub struct AppsAnswer {
    pub version: u32,
    pub apps: Vec<AppAnswer>,
}

/// An application.
#[derive(Debug, Serialize)]
pub struct AppAnswer {
    pub name: String,
}

impl AppsAnswer {
    /// These applications.
    pub fn of(names: Vec<String>) -> Self {
        Self { version: VERSION, apps: names.into_iter().map(|name| AppAnswer { name }).collect() }
    }
}

/// What profiles have in a column, the most frequent first.
#[derive(Debug, Serialize)]
pub struct ValuesAnswer {
    pub version: u32,
    pub values: Vec<ValueAnswer>,
}

/// A text in a column. Times are in milliseconds since 1970.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValueAnswer {
    pub value: String,
    pub profiles: u64,
    pub first_seen: f64,
    pub last_seen: f64,
}

impl ValuesAnswer {
    /// These values.
    pub fn of(values: Vec<ColumnValue>) -> Self {
        let values = values.into_iter().map(|value| ValueAnswer {
            value: value.value,
            profiles: value.profiles,
            first_seen: millis(value.first),
            last_seen: millis(value.last),
        });
        Self { version: VERSION, values: values.collect() }
    }
}

/// Two selections, compared. Times are in milliseconds for each session.
#[derive(Debug, Serialize, Deserialize)]
pub struct DiffAnswer {
    pub version: u32,
    pub base: SideAnswer,
    pub new: SideAnswer,
    /// How many functions were tested; probabilities are corrected for this number.
    pub tested: usize,
    pub functions: Vec<ChangeAnswer>,
}

/// One of the two.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SideAnswer {
    pub profiles: u64,
    pub sessions: u64,
    /// The mean of a session.
    pub busy_time: f64,
    /// The releases whose functions cannot be matched with those of the other side.
    #[serde(default)]
    pub minified: Vec<MinifiedAnswer>,
}

/// A release whose functions have the names of a minifier.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MinifiedAnswer {
    pub release: String,
    /// The named functions of scripts.
    pub functions: u64,
    /// Those with minified names and no source map.
    pub minified: u64,
    /// Whether the release has maps, but of other scripts.
    pub has_maps: bool,
}

impl From<&Minified> for MinifiedAnswer {
    fn from(one: &Minified) -> Self {
        let Minified { release, functions, minified, has_maps } = one;
        Self { release: release.clone(), functions: *functions, minified: *minified, has_maps: *has_maps }
    }
}

/// A function in both.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeAnswer {
    pub name: String,
    pub resource: Option<String>,
    pub self_time: TimeChange,
    pub total_time: TimeChange,
}

/// The time of a function in both.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeChange {
    /// The means of all sessions.
    pub base: f64,
    pub new: f64,
    /// The difference of the means, in which the longest sessions are scaled down, and where it lies with a probability
    /// of 95%.
    pub difference: f64,
    pub difference_interval: Option<(f64, f64)>,
    pub ratio: Option<f64>,
    pub ratio_interval: Option<(f64, f64)>,
    /// The probability that two equal releases have any function with so clear a difference. Absent if it was not
    /// tested.
    pub probability: Option<f64>,
    pub verdict: VerdictAnswer,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictAnswer {
    Slower,
    Faster,
    NoEvidence,
    TooFewSessions,
}

impl DiffAnswer {
    /// The first `top` functions, and all that are slower or faster.
    pub fn of(comparison: &Comparison, top: usize) -> Self {
        let is_told =
            |row: &ComparedFunction| matches!(row.self_time.verdict, Verdict::Slower | Verdict::Faster);
        let rows = comparison.functions.iter().enumerate();
        let rows = rows.filter(|(index, row)| *index < top || is_told(row));
        let side = |extent: &Extent| SideAnswer {
            profiles: extent.profiles,
            sessions: extent.sessions,
            busy_time: extent.mean_busy / 1_000.0,
            minified: extent.minified.iter().map(MinifiedAnswer::from).collect(),
        };
        Self {
            version: VERSION,
            base: side(&comparison.base),
            new: side(&comparison.new),
            tested: comparison.tested,
            functions: rows.map(|(_, row)| ChangeAnswer::from(row)).collect(),
        }
    }
}

impl From<&ComparedFunction> for ChangeAnswer {
    fn from(row: &ComparedFunction) -> Self {
        let FunctionName { name, resource, .. } = FunctionName::from(&row.function);
        Self { name, resource, self_time: (&row.self_time).into(), total_time: (&row.total_time).into() }
    }
}

impl From<&FunctionComparison> for TimeChange {
    fn from(time: &FunctionComparison) -> Self {
        let scaled = |interval: Interval, by: f64| (interval.low / by, interval.high / by);
        Self {
            base: time.base.mean_us / 1_000.0,
            new: time.new.mean_us / 1_000.0,
            difference: time.difference_us / 1_000.0,
            difference_interval: time.difference_interval_us.map(|interval| scaled(interval, 1_000.0)),
            ratio: time.ratio,
            ratio_interval: time.ratio_interval.map(|interval| scaled(interval, 1.0)),
            probability: time.adjusted_p,
            verdict: match time.verdict {
                Verdict::Slower => VerdictAnswer::Slower,
                Verdict::Faster => VerdictAnswer::Faster,
                Verdict::NoEvidence => VerdictAnswer::NoEvidence,
                Verdict::TooFewSessions => VerdictAnswer::TooFewSessions,
            },
        }
    }
}

/// What was deleted.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeletedAnswer {
    pub version: u32,
    /// How many profiles.
    pub profiles: u64,
}

impl DeletedAnswer {
    /// So many profiles.
    pub fn of(profiles: u64) -> Self {
        Self { version: VERSION, profiles }
    }
}
