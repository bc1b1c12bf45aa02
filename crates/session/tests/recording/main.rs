//! Recordings of raw segments.

mod admission;
mod chunks;
mod circular;
mod collections;
mod forced;
mod labels;
mod limit;
mod markers;
mod notation;
mod random;
mod realms;
mod seams;
mod spans;
mod stacks;
mod streaming;
mod subsampling;
mod waiting;
