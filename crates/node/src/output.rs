//! What JavaScript receives of a recording. Made on the building thread.

pub mod chunk_queue;
pub mod explainer;
pub mod finished;
pub mod trace_columns;
pub mod trace_output;
