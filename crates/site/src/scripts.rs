//! Scripts and their source maps.

mod function_patterns;
pub mod instrumenter;
pub mod map_links;
pub mod script_files;
