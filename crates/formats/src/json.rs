//! What the formats in JSON share.

mod read;
mod text;
mod write;

pub(crate) use read::{Elements, Exceeded, Members, each, list, object, read, stop};
pub(crate) use text::Text;
pub(crate) use write::{millis, number, number_or_null, string, write_list};
