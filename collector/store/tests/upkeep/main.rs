//! The upkeep of real tables: merging, retention, deletion, logs. It changes no answer.

mod deletion;
mod logs;
mod merging;
mod store;
mod versions;
