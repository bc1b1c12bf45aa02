//! Questions to tables with known profiles.

mod data;
mod labels;
mod profiles;
mod series;
mod spans;
