//! The timelines behind `performance`. JavaScript converts and checks the values that it passes here, and has the
//! objects that scripts see.
//!
//! A timeline belongs to the JS thread that made it, and lives as long as JavaScript holds it or one of its functions.

pub mod fast_calls;
pub mod shared;
pub mod timeline;
pub mod timeline_columns;
pub mod weak_objects;
