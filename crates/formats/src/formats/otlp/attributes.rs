//! Attributes of profiles and samples.

use selfprof_trace::Marker;

/// The attributes of a profile or a sample that are read.
#[derive(Clone, Default)]
pub(super) struct Attributes {
    pub(super) thread: Option<String>,
    pub(super) pid: Option<u32>,
    pub(super) command: Option<String>,
    pub(super) marker: Option<Marker>,
}
