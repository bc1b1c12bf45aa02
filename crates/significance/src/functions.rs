//! The functions of two releases: their sums, and which of them are tested.

use super::FunctionIndex;
use super::comparison::FunctionTime;
use super::limit::Limit;
use super::sessions::SortedSessions;
use super::units::limited;

/// The sums of one function in one release.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionSums {
    /// The number of sessions in which it ran.
    pub sessions: usize,
    time_us: u128,
    limited_us: f64,
}

impl FunctionSums {
    /// The sums of each of `functions`, which are all functions of all sessions, in the order of their indices. Only
    /// the first `compared` sessions count for the limited mean.
    pub fn of(
        functions: &[FunctionIndex],
        sessions: &SortedSessions,
        limit: Limit,
        compared: usize,
    ) -> Vec<Self> {
        let mut sums = vec![Self::default(); functions.len()];
        for (number, (whole_us, times_us)) in sessions.iter().enumerate() {
            let factor = if number < compared { limit.factor(whole_us) } else { 0.0 };
            let mut position = 0;
            for &(function, time_us) in times_us {
                // Both lists are sorted.
                position += functions[position..].partition_point(|&other| other < function);
                let Some(sums) = sums.get_mut(position) else { break };
                sums.sessions += 1;
                sums.time_us += u128::from(time_us.unsigned_abs());
                sums.limited_us += limited(time_us, factor);
            }
        }
        sums
    }

    /// The sum that the limited mean is of.
    pub fn limited_us(&self) -> f64 {
        self.limited_us
    }

    /// The means of `sessions` sessions, of which `compared` were compared.
    pub fn time(&self, sessions: usize, compared: usize) -> FunctionTime {
        let mean = |sum: f64, count: usize| if count == 0 { 0.0 } else { sum / count as f64 };
        FunctionTime {
            sessions: self.sessions,
            mean_us: mean(self.time_us as f64, sessions),
            limited_mean_us: mean(self.limited_us, compared),
        }
    }
}

/// All functions with time in any of the sessions, in the order of their indices.
pub fn all(releases: [&SortedSessions; 2]) -> Vec<FunctionIndex> {
    let mut functions: Vec<FunctionIndex> = Vec::new();
    for sessions in releases {
        // In parts, so that the memory grows with the number of functions and not with that of times.
        for part in sessions.all_times_us().chunks(1 << 16) {
            functions.extend(part.iter().map(|&(function, _)| function));
            functions.sort_unstable();
            functions.dedup();
        }
    }
    functions
}

/// Why a function is tested or not. It depends on the sums of both releases together alone: a choice that does not know
/// which session is of which release leaves the error rate of the test as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It is tested.
    Tested,
    /// Even if all its time were in one release, the difference would not be worth telling.
    TooLittleTime,
    /// It ran in too few sessions.
    TooFewSessions,
}

/// What is worth testing.
pub struct Criteria {
    /// The numbers of sessions that are compared.
    pub sessions: [usize; 2],
    /// The least difference of means that is worth telling.
    pub least_difference_us: f64,
    /// The least number of sessions with a function.
    pub least_sessions: usize,
    /// The greatest p-value that is significant.
    pub error_rate: f64,
}

impl Criteria {
    pub fn choose(&self, base: &FunctionSums, new: &FunctionSums) -> Choice {
        let smaller = self.sessions[0].min(self.sessions[1]);
        let sessions = base.sessions + new.sessions;
        // If a threshold is NaN, nothing is worth telling.
        let is_worth_telling =
            (base.limited_us + new.limited_us) / smaller as f64 >= self.least_difference_us;
        if !is_worth_telling {
            Choice::TooLittleTime
        } else if sessions < self.least_sessions || least_p(self.sessions, sessions) > self.error_rate {
            Choice::TooFewSessions
        } else {
            Choice::Tested
        }
    }

    /// Whether two releases with so many sessions can differ significantly at all.
    pub fn is_met_by_releases(&self) -> bool {
        let smaller = self.sessions[0].min(self.sessions[1]);
        smaller >= self.least_sessions.max(2) && least_p(self.sessions, smaller) <= self.error_rate
    }
}

/// The probability that `marked` sessions are all of one release, if chance decides: no p-value of a function that ran
/// in so many sessions is less. For releases of different sizes, the less probable one counts.
fn least_p(sessions: [usize; 2], marked: usize) -> f64 {
    // It only decreases with each session, and is as good as 0 by then.
    let marked = marked.min(100);
    let all = sessions[0] + sessions[1];
    let all_in = |sessions: usize| -> f64 {
        (0..marked).map(|i| sessions.saturating_sub(i) as f64 / all.saturating_sub(i).max(1) as f64).product()
    };
    let (first, second) = (all_in(sessions[0]), all_in(sessions[1]));
    if sessions[0] == sessions[1] { first + second } else { first.min(second) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_p_values() {
        #[track_caller]
        fn check(sessions: [usize; 2], marked: usize, expected: f64) {
            let p = least_p(sessions, marked);
            assert!((p - expected).abs() < 1e-12, "{p} is not {expected}");
        }
        // 2 of the 252 divisions of 10 sessions into halves are as extreme as one with a given half.
        check([5, 5], 5, 2.0 / 252.0);
        check([3, 3], 3, 0.1);
        check([10, 2], 2, 1.0 / 66.0);
        check([100, 100], 1, 1.0);
        check([4, 4], 5, 0.0);
    }
}
