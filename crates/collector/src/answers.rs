//! Answers as JSON, with the member names of `selfprof top --json`.

use selfprof_store::query::flame_graph::FlameGraph;
use selfprof_store::query::functions::Functions;
use selfprof_store::query::{FrameInfo, StackSums};
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
