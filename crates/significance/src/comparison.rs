//! The result of a comparison.

use super::FunctionIndex;

/// Two releases, compared function by function.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The old release.
    pub base: ReleaseSummary,
    /// The new release.
    pub new: ReleaseSummary,
    /// Sessions with a longer whole time were scaled down to this one. `None`: no session was.
    pub limit_us: Option<i64>,
    /// How many sessions make up one unit of the test: 1, or more if each release has at least 512 sessions.
    pub sessions_per_unit: usize,
    /// How many functions were tested. The p-values are corrected for this number.
    pub tested: usize,
    /// Each function with time in either release, by its index.
    pub functions: Vec<FunctionComparison>,
}

/// The sessions of one release.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseSummary {
    /// The number of sessions.
    pub sessions: usize,
    /// How many of them were compared: whole units, so at most 1 in 256 is left out.
    pub compared: usize,
    /// How many of them were longer than [`Comparison::limit_us`].
    pub limited: usize,
    /// The mean whole time of all sessions.
    pub mean_whole_us: f64,
}

/// One function in two releases.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionComparison {
    /// The function.
    pub function: FunctionIndex,
    /// Its time in the old release.
    pub base: FunctionTime,
    /// Its time in the new release.
    pub new: FunctionTime,
    /// The limited mean in the new release minus that in the old one.
    pub difference_us: f64,
    /// A confidence interval of the difference, for this function alone. `None` if the function was not tested.
    pub difference_interval_us: Option<Interval>,
    /// The limited mean in the new release divided by that in the old one. `None` if the old one is 0.
    pub ratio: Option<f64>,
    /// A confidence interval of the ratio. `None` if the function was not tested, or if the mean of the old release is
    /// not known well enough for the interval to have an end.
    pub ratio_interval: Option<Interval>,
    /// The probability that two equal releases have any function with so clear a difference, among those whose
    /// difference is not clearer in these data. `None` if the function was not tested.
    pub adjusted_p: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
}

/// The time of one function in one release. Sessions in which it did not run count as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FunctionTime {
    /// The number of sessions in which it ran.
    pub sessions: usize,
    /// The mean of all sessions.
    pub mean_us: f64,
    /// The mean of the sessions that were compared, the longest of them scaled down.
    pub limited_mean_us: f64,
}

/// From one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What a comparison says about a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes more time in the new release, and the change is significant and worth telling.
    Slower,
    /// It takes less time in the new release, and the change is significant and worth telling.
    Faster,
    /// There is no evidence of a change that is worth telling.
    NoEvidence,
    /// A release has too few sessions, or the function ran in too few, for any change to be significant.
    TooFewSessions,
}
