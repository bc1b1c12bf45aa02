//! What a session keeps of raw segments.

mod admission;
mod chunks;
mod circular;
mod collections;
mod limit;
mod markers;
mod notation;
mod random;
mod seams;
mod spans;
mod stacks;
mod streaming;
mod subsampling;
