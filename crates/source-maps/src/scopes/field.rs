//! The `scopes` fields of a map and its sections.

use serde::Deserialize;

/// The `scopes` of a map, or of the sections of an index map. Other fields are ignored.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Field {
    pub(crate) scopes: Option<String>,
    sections: Option<Vec<Section>>,
}

#[derive(Debug, Deserialize)]
struct Section {
    offset: Offset,
    map: Option<Box<Field>>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Offset {
    line: u32,
    column: u32,
}

/// The JSON of a map without the line that prevents it from being run as a script.
pub(crate) fn without_guard(json: &[u8]) -> &[u8] {
    let guarded = json.first().is_some_and(|byte| b")]}'".contains(byte));
    let line = json.iter().position(|byte| guarded && *byte == b'\n').unwrap_or(0);
    &json[line..]
}

impl Field {
    /// Reads them from the JSON of a map.
    pub(crate) fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        // Most maps have no scopes, and need not be parsed a second time.
        if !std::str::from_utf8(json).is_ok_and(|text| text.contains("\"scopes\"")) {
            return Ok(Self::default());
        }
        serde_json::from_slice(without_guard(json))
    }

    /// The fields of the sections' maps, in the order of their offsets.
    pub(crate) fn into_sections(self) -> impl Iterator<Item = Self> {
        let mut sections = self.sections.unwrap_or_default();
        sections.sort_by_key(|section| section.offset);
        sections.into_iter().map(|section| section.map.map_or_else(Self::default, |field| *field))
    }
}
