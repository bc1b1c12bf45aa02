//! The page host: a Node.js process that runs the npm package's page driver, for `selfprof page` and
//! `selfprof webdriver`.

mod launcher;
mod memory;
mod process;

pub use launcher::PageLauncher;
pub use process::{PageProcess, TOO_LARGE};
