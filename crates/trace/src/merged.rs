//! The threads of a program as one trace.

use std::ops::Range;

use crate::micros::Micros;
use crate::table::TableFull;
use crate::trace::Trace;
use crate::weigh::{median_interval, weigh_by};

/// The threads of a program as one trace, with the weights that their samples have in their own threads.
///
/// The samples are in the order of the threads, so they are not sorted by time, and only these weights are right for them.
#[derive(Clone, Debug, Default)]
pub struct MergedThreads {
    /// The samples, marks and measures of all threads.
    pub trace: Trace,
    /// The weight of each sample.
    pub weights: Vec<Micros>,
    /// The indexes of each thread's samples.
    pub ranges: Vec<Range<usize>>,
    /// The median time between samples in the first thread that has one.
    pub interval: Option<Micros>,
}

impl MergedThreads {
    /// Merges threads that have the same time origin.
    pub fn of<'a>(threads: impl IntoIterator<Item = &'a Trace>) -> Result<Self, TableFull> {
        let mut merged = Self::default();
        for thread in threads {
            let interval = median_interval(thread.samples());
            let start = merged.weights.len();
            merged.weights.extend(weigh_by(interval, thread.samples()));
            merged.ranges.push(start..merged.weights.len());
            merged.interval = merged.interval.or(interval);
            merged.trace.merge(thread)?;
        }
        Ok(merged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::sample::Sample;
    use crate::stack::Stack;
    use crate::summary::Summary;

    #[test]
    fn samples_keep_the_weights_of_their_threads() {
        let thread = |name: &str, times: &[u64]| {
            let mut trace = Trace::new();
            let name = trace.name(name).unwrap();
            let frame = trace.frame(Frame { name, resource: None, line: None, column: None }).unwrap();
            let stack = trace.stack(Stack { parent: None, frame }).ok();
            for &time in times {
                trace.push_sample(Sample { timestamp: Micros(time), stack, marker: None });
            }
            trace
        };
        let threads =
            [thread("a", &[0, 10, 30]), thread("b", &[]), thread("a", &[1005, 1010]), thread("c", &[5])];

        let merged = MergedThreads::of(&threads).unwrap();

        assert_eq!(merged.weights, [10, 10, 20, 5, 5, 0].map(Micros));
        assert_eq!(merged.ranges, [0..3, 3..3, 3..5, 5..6]);
        assert_eq!(merged.interval, Some(Micros(10)));
        let summary = Summary::of_merged(&merged);
        let rows: Vec<_> = summary.functions.iter().map(|row| (row.self_time.0, row.self_samples)).collect();
        assert_eq!(rows, [(50, 5), (0, 1)]);
        assert_eq!(summary.interval, Some(Micros(10)));
    }
}
