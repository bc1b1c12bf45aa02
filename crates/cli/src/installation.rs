//! What has to be installed beside this program: Node.js, the npm package and its native addons.

pub mod addon;
pub mod node;
pub mod package;
