//! What a comparison is asked to do.

/// What a comparison is asked to do. Values that make no sense, such as NaN, lead to no verdict, not to an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The greatest probability that a comparison of two equal releases names any function at all. Confidence
    /// intervals have the level `1 - error_rate`.
    pub error_rate: f64,
    /// A change smaller than this part of the function's mean time in the base is not worth telling.
    pub least_part_of_function: f64,
    /// A change smaller than this part of the mean whole time of a session is not worth telling.
    pub least_part_of_session: f64,
    /// A release with fewer sessions is not compared. A function that ran in fewer sessions of both releases together
    /// is not compared either.
    pub least_sessions: usize,
    /// The part of all sessions whose times are limited: the longest ones are scaled down to the longest of the rest.
    /// 0 limits none, more than 0 at least one session.
    pub limited_part: f64,
    /// How many random divisions are drawn: with the data themselves, p-values are multiples of `1 / (divisions + 1)`.
    /// Time grows with it, and the number of functions that can be tested shrinks.
    pub divisions: usize,
    /// How many threads share the work. The result does not depend on it.
    pub threads: usize,
}

impl Default for Settings {
    /// 5% errors, changes of 5% of a function and 0.1% of a session, 5 sessions, 1% of the sessions limited, 999
    /// divisions, 2 threads.
    fn default() -> Self {
        Self {
            error_rate: 0.05,
            least_part_of_function: 0.05,
            least_part_of_session: 0.001,
            least_sessions: 5,
            limited_part: 0.01,
            divisions: 999,
            threads: 2,
        }
    }
}
