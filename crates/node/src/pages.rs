//! What the pages of `@selfprof/page` need: their realms, which sessions know, and the functions that JavaScript calls
//! for them.

pub mod hooks;
pub mod realm_functions;
pub mod realms;
pub mod scripts;
pub mod structured_clone;
