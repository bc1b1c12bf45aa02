//! The commands, one module each.

pub mod convert;
pub mod diff;
pub mod page;
pub mod recover;
pub mod report;
pub mod run;
pub mod top;
pub mod webdriver;
