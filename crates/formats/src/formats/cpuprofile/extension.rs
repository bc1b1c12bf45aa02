//! The member `selfprof` of CPU profiles written by selfprof. With it, they are read back exactly.

/// The version of the member.
pub(super) const VERSION: u32 = 1;

/// The member `selfprof`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Extension {
    pub(super) version: u32,
    /// The trace's time origin on the clock of the file.
    pub(super) time_origin: f64,
    /// The offset by which each time was moved.
    #[serde(default)]
    pub(super) moved: Vec<f64>,
    /// The indexes of samples that stand for a pause.
    pub(super) pauses: Vec<usize>,
}
