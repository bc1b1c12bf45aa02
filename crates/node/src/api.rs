//! The functions that JavaScript calls. Only the npm package calls them, with values that it has converted and checked.

pub mod addon_name;
pub mod agent;
pub mod arguments;
pub mod diagnostics;
pub mod entries;
pub mod journal;
pub mod labels;
pub mod life_sign;
pub mod listener;
pub mod sessions;
pub mod threads;
