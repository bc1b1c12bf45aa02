//! Attributes of profiles and samples.

use selfprof_trace::{LabelSetId, Marker};

/// The names of attributes that have members of their own in [`Attributes`].
pub(super) const NAMES: [&str; 5] =
    ["thread.name", "thread.id", "process.pid", "process.command_line", "selfprof.marker"];

/// The attributes of a profile or a sample.
#[derive(Clone, Default)]
pub(super) struct Attributes {
    pub(super) thread: Option<String>,
    pub(super) pid: Option<u32>,
    pub(super) command: Option<String>,
    pub(super) marker: Option<Marker>,
    /// All other attributes of a sample.
    pub(super) labels: Option<LabelSetId>,
}
