//! The types of values in profiles that have values of many: which of them are times.

/// What a value counts. Time on the clock comes before time on a processor: it is what a user waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Time on the clock.
    Wall,
    /// Time on a processor.
    Cpu,
    /// Samples, each of which stands for one period.
    Samples,
}

/// A type of values that are times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimeType {
    pub(crate) kind: Kind,
    /// The nanoseconds of one.
    pub(crate) nanos: u64,
}

impl TimeType {
    /// The type with this name and unit; `period` is the time in nanoseconds between two samples, if that is known.
    pub(crate) fn of(name: &str, unit: &str, period: Option<u64>) -> Option<Self> {
        let (kind, nanos) = match (name, nanos_of(unit)) {
            ("wall" | "wall-time" | "wall_time", Some(nanos)) => (Kind::Wall, nanos),
            ("cpu" | "cpu-time" | "cpu_time" | "on-cpu" | "on_cpu", Some(nanos)) => (Kind::Cpu, nanos),
            ("samples" | "sample", None) => (Kind::Samples, period?),
            _ => return None,
        };
        Some(Self { kind, nanos })
    }
}

/// Nanoseconds of a unit of time.
pub(crate) fn nanos_of(unit: &str) -> Option<u64> {
    Some(match unit {
        "nanoseconds" | "nanosecond" | "ns" => 1,
        "microseconds" | "microsecond" | "us" => 1_000,
        "milliseconds" | "millisecond" | "ms" => 1_000_000,
        "seconds" | "second" | "s" => 1_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_preferred_to_counts() {
        #[track_caller]
        fn check(types: &[(&str, &str)], expected: Option<(usize, u64)>) {
            let types = types.iter().enumerate();
            let times =
                types.filter_map(|(index, (name, unit))| Some((TimeType::of(name, unit, Some(7))?, index)));
            assert_eq!(times.min().map(|(time, index)| (index, time.nanos)), expected);
        }
        check(&[("samples", "count"), ("cpu", "nanoseconds")], Some((1, 1)));
        check(&[("sample", "count"), ("cpu", "ns"), ("wall", "microseconds")], Some((2, 1_000)));
        check(&[("samples", "count")], Some((0, 7)));
        check(&[("alloc_space", "bytes"), ("inuse_objects", "count")], None);
        check(&[], None);
    }
}
