//! Comparisons of whole releases.
#![forbid(unsafe_code)]

mod error_rate;
mod hostile;
mod methods;
mod order;
#[allow(dead_code, reason = "the example uses the rest of it")]
mod simulation;
mod verdicts;
