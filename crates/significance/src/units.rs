//! What is permuted: sessions, or blocks of sessions.

use super::sessions::SortedSessions;
use super::statistic::Sums;
use super::{FunctionIndex, limit::Limit};

/// The smaller release has at least so many units, if it has so many sessions.
const UNITS: usize = 256;

/// How many sessions make up one unit: blocks of one size are as exchangeable as their sessions, and bound the cost.
pub fn sessions_per_unit(sessions: [usize; 2]) -> usize {
    (sessions[0].min(sessions[1]) / UNITS).max(1)
}

/// The units of both releases, the smaller one first, each with the times of some functions.
#[derive(Debug)]
pub struct Units {
    ends: Vec<usize>,
    values: Vec<(u32, f64)>,
    totals: Vec<Sums>,
}

impl Units {
    /// Adds up `per_unit` sessions each, in the order of their keys. `functions` are in the order of their indices.
    /// Sessions that fill no unit are left out.
    pub fn new(
        releases: [&SortedSessions; 2],
        functions: &[FunctionIndex],
        limit: Limit,
        per_unit: usize,
    ) -> Self {
        let mut units =
            Self { ends: Vec::new(), values: Vec::new(), totals: vec![Sums::default(); functions.len()] };
        let mut unit = vec![0.0; functions.len()];
        for sessions in releases {
            let compared = sessions.len() / per_unit * per_unit;
            for (number, (whole_us, times_us)) in (1..=compared).zip(sessions.iter()) {
                let factor = limit.factor(whole_us);
                let mut position = 0;
                for &(function, time_us) in times_us {
                    // Both lists are sorted.
                    position += functions[position..].partition_point(|&other| other < function);
                    if functions.get(position) == Some(&function) {
                        unit[position] += limited(time_us, factor);
                    }
                }
                if number % per_unit == 0 {
                    units.push(&mut unit);
                }
            }
        }
        let count = units.ends.len() as f64;
        units.totals.iter_mut().for_each(|total| total.count = count);
        units
    }

    /// Adds a unit and resets `values`.
    fn push(&mut self, values: &mut [f64]) {
        for ((function, value), total) in (0..).zip(values).zip(&mut self.totals) {
            if *value != 0.0 {
                self.values.push((function, *value));
                total.sum += *value;
                total.squares += *value * *value;
                *value = 0.0;
            }
        }
        self.ends.push(self.values.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The values of one unit, with the positions of their functions.
    pub fn unit(&self, unit: u32) -> &[(u32, f64)] {
        let unit = unit as usize;
        let start = unit.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[unit]]
    }

    /// The sums of all units, for each function.
    pub fn totals(&self) -> &[Sums] {
        &self.totals
    }

    /// The sums of the first `count` units and of the rest, for each function.
    pub fn divided(&self, count: usize) -> Vec<[Sums; 2]> {
        let rest = self.len().saturating_sub(count);
        let empty = [count, rest].map(|count| Sums { count: count as f64, ..Sums::default() });
        let mut sums = vec![empty; self.totals.len()];
        for unit in 0..self.len() {
            for &(function, value) in self.unit(unit as u32) {
                let sums = &mut sums[function as usize][usize::from(unit >= count)];
                sums.sum += value;
                sums.squares += value * value;
            }
        }
        sums
    }
}

/// A time of a session whose whole time is limited, in whole microseconds: sums of such numbers are exact.
pub fn limited(time_us: i64, factor: f64) -> f64 {
    if factor == 1.0 { time_us as f64 } else { (time_us as f64 * factor).round() }
}
