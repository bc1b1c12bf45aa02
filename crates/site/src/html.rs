//! HTML pages.

pub mod checksums;
mod cursor;
pub mod markup;
pub mod pages;
