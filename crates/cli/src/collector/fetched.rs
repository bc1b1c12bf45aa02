//! What was asked for.

use selfprof_formats::Thread;
use selfprof_trace::foreign::Problems;

/// What a URL stands for.
pub struct Fetched {
    /// How it is called.
    pub name: String,
    pub threads: Vec<(Thread, Problems)>,
    /// What readers must know: `None` for a profile as it was recorded.
    pub remark: Option<String>,
}
