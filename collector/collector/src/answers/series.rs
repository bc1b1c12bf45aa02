//! Times over a period.

use selfprof_store::query::series::Series;
use serde::{Deserialize, Serialize};

use super::{FunctionName, Tally, VERSION, millis};

/// The functions of a selection, hour by hour or day by day.
#[derive(Debug, Serialize, Deserialize)]
pub struct SeriesAnswer {
    pub version: u32,
    /// `hour` or `day`.
    pub step: String,
    pub profiles: u64,
    pub sessions: u64,
    /// All parts of the period, the earliest first.
    pub points: Vec<PointAnswer>,
    pub functions: Vec<FunctionSeriesAnswer>,
}

/// One hour or day.
#[derive(Debug, Serialize, Deserialize)]
pub struct PointAnswer {
    /// When it begins, in milliseconds since 1970.
    pub time: f64,
    pub profiles: u64,
    pub sessions: u64,
    pub busy: Tally,
}

/// The times of a function in milliseconds, one for each point.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionSeriesAnswer {
    #[serde(flatten)]
    pub function: FunctionName,
    pub self_time: Vec<f64>,
    pub total_time: Vec<f64>,
}

impl From<Series> for SeriesAnswer {
    fn from(series: Series) -> Self {
        let times = |times: &[i64]| times.iter().map(|&time| millis(time)).collect();
        let points = series.points.iter().map(|point| PointAnswer {
            time: millis(point.time),
            profiles: point.profiles,
            sessions: point.sessions,
            busy: Tally { time: millis(point.busy) },
        });
        let functions = series.functions.iter().map(|row| FunctionSeriesAnswer {
            function: FunctionName::from(&row.function),
            self_time: times(&row.self_times),
            total_time: times(&row.total_times),
        });
        Self {
            version: VERSION,
            step: series.step.as_str().into(),
            profiles: series.profiles,
            sessions: series.sessions,
            points: points.collect(),
            functions: functions.collect(),
        }
    }
}
