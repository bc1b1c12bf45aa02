//! All JS threads of the process that have an agent.

pub mod registry;
