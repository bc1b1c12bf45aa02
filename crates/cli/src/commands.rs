//! The commands, one module each.

pub mod agent_exporter;
pub mod attach;
pub mod collector;
pub mod convert;
pub mod diff;
pub mod doctor;
pub mod instrument;
pub mod live_recording;
pub mod page;
pub mod recover;
pub mod report;
pub mod run;
pub mod top;
pub mod webdriver;
