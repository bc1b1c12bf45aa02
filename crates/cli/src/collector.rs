//! A running `selfprof-collector`, whose URLs stand for files: of a single profile, or of all profiles that a filter
//! selects.
//!
//! The URLs are those of the collector's page and of its API. Those of the page mean the same here as there. All of
//! them name an application, `app`; other URLs are files.

mod address;
mod comparison;
mod fetched;
mod request;
mod sums;

use selfprof_formats::{Format, Hint, ReadOptions, read};

use crate::failure::Failure;

pub use address::Address;
pub use comparison::{ComparedFunction, Comparison, Side, Verdict, compare};
pub use fetched::Fetched;

use address::What;

/// Asks a collector.
pub fn fetch(address: &Address) -> Result<Fetched, Failure> {
    match &address.what {
        What::Profile { path, id } => {
            let json = request::get(address, path)?;
            let hint = Hint { format: Some(Format::W3c), name: None };
            let profile = read(json.as_slice(), hint, &ReadOptions::default()).map_err(|error| {
                Failure::job(format!("cannot read the answer of {}", address.authority())).because(&error)
            })?;
            Ok(Fetched { name: format!("profile {id}"), threads: profile.threads, remark: None })
        }
        What::Selection(selection) => sums::fetch(address, selection),
    }
}
