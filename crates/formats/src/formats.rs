//! The formats, one module each.

pub mod explainer;
pub mod journal;
pub mod w3c;

#[cfg(feature = "conversion")]
pub mod chrome;
#[cfg(feature = "conversion")]
pub mod collapsed;
#[cfg(feature = "conversion")]
pub mod cpuprofile;
#[cfg(feature = "conversion")]
pub mod firefox;
#[cfg(feature = "conversion")]
pub mod otlp;
#[cfg(feature = "conversion")]
pub mod pprof;
#[cfg(feature = "conversion")]
pub mod speedscope;
