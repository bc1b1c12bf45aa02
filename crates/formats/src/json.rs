//! Reading and writing JSON as a stream.

mod any;
#[cfg(feature = "conversion")]
mod loose;
mod read;
mod text;
mod write;

pub(crate) use any::{Any, any};
#[cfg(feature = "conversion")]
pub(crate) use loose::{Loose, index};
pub(crate) use read::{Elements, Exceeded, Members, list, object, read, stop};
#[cfg(feature = "conversion")]
pub(crate) use read::{each, read_deep, read_list};
pub(crate) use text::{Text, read_wtf8};
#[cfg(feature = "conversion")]
pub(crate) use write::number_or_null;
pub(crate) use write::{millis, number, string, write_list, write_strings};
