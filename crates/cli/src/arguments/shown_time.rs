//! Which time a command shows.

use clap::ValueEnum;
use selfprof_trace::Clock;

/// Which time a command shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShownTime {
    /// CPU time only
    Cpu,
    /// Wall-clock time; waiting counts as time of the function that waits
    Wall,
}

impl From<ShownTime> for Clock {
    fn from(time: ShownTime) -> Self {
        match time {
            ShownTime::Cpu => Self::Cpu,
            ShownTime::Wall => Self::Wall,
        }
    }
}
