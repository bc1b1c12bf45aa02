//! What a map takes in memory, found before it is decoded.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{MAX_BYTES, MapError};

/// The maximum number of mappings. Each takes about 60 bytes when it is read.
const MAX_MAPPINGS: usize = 3 << 22;

/// Shorter maps take little, whatever is in them.
const SHORT: usize = 1 << 14;

/// What decides the size of a map, or of the sections of an index map.
#[derive(Debug, Deserialize)]
struct Sizes<'json> {
    /// It precedes the name of each source.
    #[serde(rename = "sourceRoot", borrow)]
    root: Option<Cow<'json, str>>,
    sources: Option<Vec<IgnoredAny>>,
    #[serde(borrow)]
    mappings: Option<Cow<'json, str>>,
    #[serde(borrow)]
    sections: Option<Vec<Section<'json>>>,
}

#[derive(Debug, Deserialize)]
struct Section<'json> {
    #[serde(borrow)]
    map: Option<Box<Sizes<'json>>>,
}

/// Fails if a map in JSON, without what precedes it, would take much more memory than its length.
pub(super) fn check(json: &[u8]) -> Result<(), MapError> {
    if json.len() < SHORT {
        return Ok(());
    }
    let sizes: Sizes<'_> =
        serde_json::from_slice(json).map_err(|error| MapError::Invalid(error.to_string()))?;
    let (roots, mappings) = sizes.sum();
    if roots > MAX_BYTES {
        return Err(MapError::Invalid(format!(
            "the names of its sources have more than {} MiB",
            MAX_BYTES >> 20
        )));
    }
    if mappings > MAX_MAPPINGS {
        return Err(MapError::Invalid(format!("it has more than {MAX_MAPPINGS} mappings")));
    }
    Ok(())
}

impl Sizes<'_> {
    /// The bytes of the root in the names of all sources, and the number of mappings.
    fn sum(&self) -> (usize, usize) {
        let root = self.root.as_ref().map_or(0, |root| root.len());
        let sources = self.sources.as_ref().map_or(0, Vec::len);
        let mappings =
            self.mappings.as_ref().map_or(0, |text| text.bytes().filter(|byte| b",;".contains(byte)).count());
        let sections = self.sections.iter().flatten().filter_map(|section| section.map.as_ref());
        sections.map(|map| map.sum()).fold((root.saturating_mul(sources), mappings), |sum, more| {
            (sum.0.saturating_add(more.0), sum.1 + more.1)
        })
    }
}
