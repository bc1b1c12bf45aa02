//! Two selections, compared by the collector: by sessions, because the samples of one session depend on each other.

use serde::Deserialize;

use super::address::{Address, Selection, What};
use super::request;
use crate::failure::Failure;

/// `GET /api/v1/diff`. Times are in milliseconds for each session.
#[derive(Deserialize)]
pub struct Comparison {
    pub base: Side,
    pub new: Side,
    pub tested: usize,
    pub functions: Vec<ComparedFunction>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    pub profiles: u64,
    pub sessions: u64,
    pub busy_time: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedFunction {
    pub name: String,
    pub resource: Option<String>,
    pub self_time: TimeChange,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeChange {
    pub base: f64,
    pub new: f64,
    pub difference: f64,
    pub difference_interval: Option<(f64, f64)>,
    pub probability: Option<f64>,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Slower,
    Faster,
    NoEvidence,
    TooFewSessions,
}

/// A condition that all profiles meet.
const ALL: &str = "release like '%'";

/// Has the collector compare two selections of one application and period, and returns its answer also as it came.
/// `None` if the URLs stand for something else.
pub fn compare(base: &Address, new: &Address, top: usize) -> Result<Option<(Comparison, Vec<u8>)>, Failure> {
    let (What::Selection(old), What::Selection(fresh)) = (&base.what, &new.what) else { return Ok(None) };
    if base.root != new.root || (&old.app, &old.from, &old.to) != (&fresh.app, &fresh.from, &fresh.to) {
        return Ok(None);
    }
    let condition = |filter: &str| if filter.trim().is_empty() { ALL.to_owned() } else { filter.to_owned() };
    let both = Selection { filter: String::new(), ..old.clone() };
    let (of_base, of_new, top) = (condition(&old.filter), condition(&fresh.filter), top.to_string());
    let path = both.path("diff", &[("base", &of_base), ("new", &of_new), ("top", &top)]);
    let json = request::get(base, &path)?;
    let comparison: Comparison = serde_json::from_slice(&json).map_err(|error| {
        Failure::job(format!("cannot read the answer of {}", base.authority()))
            .because(&error)
            .hint("use the same version of selfprof and selfprof-collector")
    })?;
    for (name, side) in [("BASE", &comparison.base), ("NEW", &comparison.new)] {
        if side.profiles == 0 {
            return Err(Failure::job(format!(
                "the collector at {} has no profiles of {name}",
                base.authority()
            ))
            .hint("without `from`, the last seven days count"));
        }
    }
    Ok(Some((comparison, json)))
}
