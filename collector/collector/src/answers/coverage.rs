//! How many sessions are profiled, and why others cannot be.

use std::collections::BTreeMap;

use selfprof_store::coverage::{Coverage, Groups, Sum};
use serde::{Deserialize, Serialize};

use super::VERSION;

/// The coverage of an application.
#[derive(Debug, Serialize, Deserialize)]
pub struct CoverageAnswer {
    pub version: u32,
    /// All of them.
    pub total: CoverageGroup,
    /// By browser, release or page; the largest first.
    pub groups: Vec<CoverageGroup>,
}

/// Some sessions, which have said how they are profiled, or why they cannot be.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CoverageGroup {
    /// The browser, the release or the page.
    pub value: String,
    /// How many have said it.
    pub reports: u64,
    /// How many sessions there were: each that has said it stands for 1 / rate.
    pub sessions: f64,
    /// Those of them that could be profiled.
    pub profiled: f64,
    /// By kind of coverage.
    pub kinds: BTreeMap<Coverage, f64>,
}

impl CoverageGroup {
    fn add(&mut self, coverage: Coverage, Sum { reports, sessions }: Sum) {
        self.reports += reports;
        self.sessions += sessions;
        if coverage.is_profiled() {
            self.profiled += sessions;
        }
        *self.kinds.entry(coverage).or_default() += sessions;
    }
}

impl CoverageAnswer {
    /// The first `top` groups.
    pub fn of(groups: Groups, top: usize) -> Self {
        let mut total = CoverageGroup::default();
        let mut all = Vec::new();
        for (value, sums) in groups {
            let mut group = CoverageGroup { value, ..CoverageGroup::default() };
            for (coverage, sum) in sums {
                group.add(coverage, sum);
                total.add(coverage, sum);
            }
            all.push(group);
        }
        all.sort_by(|a, b| b.sessions.total_cmp(&a.sessions));
        all.truncate(top);
        Self { version: VERSION, total, groups: all }
    }
}
