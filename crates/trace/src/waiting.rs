//! How long a thread waited while it was busy.

use crate::micros::Micros;
use crate::sample::Sample;

/// How long a thread has waited, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingPoint {
    /// The time since the trace's time origin.
    pub timestamp: Micros,
    /// The waiting time until then.
    pub waited: Micros,
}

/// The waiting time of a thread: the time in which it was busy, but did not run on a processor. It waited for a child
/// process, for a file, for a lock, or for a processor that was busy with other threads. Idle time is not part of it.
///
/// Straight lines connect the points. Before the first and after the last one, the thread did not wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingTimes {
    points: Vec<WaitingPoint>,
}

impl WaitingTimes {
    /// Appends a point. If a time is earlier than that of the point before, it becomes equal.
    pub fn push(&mut self, point: WaitingPoint) {
        let last = self.points.last().copied().unwrap_or_default();
        let timestamp = point.timestamp.max(last.timestamp);
        // A thread cannot wait longer than time passes, except before the first point.
        let longest = match self.points.last() {
            Some(_) => last.waited.saturating_add(timestamp.saturating_sub(last.timestamp)),
            None => Micros(u64::MAX),
        };
        self.points.push(WaitingPoint { timestamp, waited: point.waited.clamp(last.waited, longest) });
    }

    /// The points in time order.
    pub fn points(&self) -> &[WaitingPoint] {
        &self.points
    }

    /// How much of the time that each sample stands for was waiting: at most its weight, and nothing of the time of
    /// idle samples. The samples must be sorted by time.
    pub fn of_samples(&self, samples: &[Sample], weights: &[Micros]) -> Vec<Micros> {
        let mut start = Cursor::default();
        let mut end = Cursor::default();
        let of_sample = |(sample, &weight): (&Sample, &Micros)| {
            if sample.is_idle() {
                return Micros::ZERO;
            }
            let before = start.waited_at(&self.points, sample.timestamp.saturating_sub(weight));
            end.waited_at(&self.points, sample.timestamp).saturating_sub(before).min(weight)
        };
        samples.iter().zip(weights).map(of_sample).collect()
    }

    pub(crate) fn shift(&mut self, offset: Micros) {
        for point in &mut self.points {
            point.timestamp = point.timestamp.saturating_add(offset);
        }
    }
}

/// Looks up one moment after the other.
#[derive(Default)]
struct Cursor {
    /// The number of points that are not later than the last moment.
    passed: usize,
}

impl Cursor {
    fn waited_at(&mut self, points: &[WaitingPoint], time: Micros) -> Micros {
        // Spans of samples may overlap by a little after a pause.
        while self.passed > 0 && points[self.passed - 1].timestamp > time {
            self.passed -= 1;
        }
        while points.get(self.passed).is_some_and(|point| point.timestamp <= time) {
            self.passed += 1;
        }
        let before = self.passed.checked_sub(1).map(|index| points[index]);
        match (before, points.get(self.passed)) {
            (Some(before), Some(after)) => {
                let part = u128::from(time.saturating_sub(before.timestamp).0);
                let whole = u128::from(after.timestamp.saturating_sub(before.timestamp).0).max(1);
                let waited = u128::from(after.waited.saturating_sub(before.waited).0);
                before.waited.saturating_add(Micros((waited * part / whole) as u64))
            }
            (Some(only), None) => only.waited,
            (None, Some(only)) => only.waited,
            (None, None) => Micros::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::waiting_times;

    #[test]
    fn times_are_made_possible() {
        #[track_caller]
        fn check(points: &[(u64, u64)], expected: &[(u64, u64)]) {
            let points: Vec<(u64, u64)> = waiting_times(points)
                .points()
                .iter()
                .map(|point| (point.timestamp.0, point.waited.0))
                .collect();
            assert_eq!(points, expected);
        }
        check(&[(5, 7), (10, 9)], &[(5, 7), (10, 9)]);
        check(&[(5, 7), (3, 2)], &[(5, 7), (5, 7)]);
        check(&[(5, 0), (10, 90)], &[(5, 0), (10, 5)]);
        check(&[(u64::MAX, u64::MAX), (0, 0)], &[(u64::MAX, u64::MAX), (u64::MAX, u64::MAX)]);
    }
}
