//! The collector.
fn main() {}
