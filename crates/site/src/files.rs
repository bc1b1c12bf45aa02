//! The files of the site, and the folder of the copies.

pub mod inputs;
pub mod output_folder;
pub mod places;
mod selection;
pub mod text;
pub mod urls;
