//! The JSON of a source map, as texts that are read one by one, so that a bad field does not cost the others.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::map_error::MapError;
use crate::problem::{Problem, Problems};

/// The fields of a source map, of a section, or of its offset. The last one of a name counts, as in JavaScript.
#[derive(Default)]
pub(super) struct Fields<'json> {
    pub(super) version: Option<&'json RawValue>,
    pub(super) file: Option<&'json RawValue>,
    pub(super) source_root: Option<&'json RawValue>,
    pub(super) sources: Option<&'json RawValue>,
    pub(super) sources_content: Option<&'json RawValue>,
    pub(super) names: Option<&'json RawValue>,
    pub(super) mappings: Option<&'json RawValue>,
    pub(super) range_mappings: Option<&'json RawValue>,
    pub(super) ignore_list: Option<&'json RawValue>,
    pub(super) scopes: Option<&'json RawValue>,
    pub(super) debug_id: Option<&'json RawValue>,
    pub(super) sections: Option<&'json RawValue>,
    pub(super) offset: Option<&'json RawValue>,
    pub(super) map: Option<&'json RawValue>,
    pub(super) url: Option<&'json RawValue>,
    pub(super) line: Option<&'json RawValue>,
    pub(super) column: Option<&'json RawValue>,
}

impl<'json> Fields<'json> {
    /// The fields of a JSON object.
    pub(super) fn of(json: &'json str) -> Result<Self, MapError> {
        serde_json::from_str(json).map_err(|error| MapError::Invalid(error.to_string()))
    }

    fn named(&mut self, name: &str) -> Option<&mut Option<&'json RawValue>> {
        Some(match name {
            "version" => &mut self.version,
            "file" => &mut self.file,
            "sourceRoot" => &mut self.source_root,
            "sources" => &mut self.sources,
            "sourcesContent" => &mut self.sources_content,
            "names" => &mut self.names,
            "mappings" => &mut self.mappings,
            "rangeMappings" => &mut self.range_mappings,
            "ignoreList" | "x_google_ignoreList" => &mut self.ignore_list,
            "scopes" => &mut self.scopes,
            "debugId" | "debug_id" => &mut self.debug_id,
            "sections" => &mut self.sections,
            "offset" => &mut self.offset,
            "map" => &mut self.map,
            "url" => &mut self.url,
            "line" => &mut self.line,
            "column" => &mut self.column,
            _ => return None,
        })
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Fields::default();
                while let Some(Name(name)) = map.next_key()? {
                    match fields.named(&name) {
                        Some(field) => *field = Some(map.next_value()?),
                        None => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[derive(Deserialize)]
struct Name<'json>(#[serde(borrow)] Cow<'json, str>);

/// The text of a field, if it is a string. If it is not, it is a problem.
pub(super) fn text<'json>(
    name: &'static str,
    value: Option<&'json RawValue>,
    problems: &mut Problems,
) -> Option<Cow<'json, str>> {
    let text = string(value.filter(is_not_null)?);
    if text.is_none() {
        problems.add(Problem::Field(name, "a string"));
    }
    text
}

/// Tools write `null` for a field that is missing.
fn is_not_null(value: &&RawValue) -> bool {
    value.get() != "null"
}

fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(value.get()).ok().map(|Name(text)| text)
}

/// What a list may have besides strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    Strings,
    StringsAndNulls,
}

/// The items of a list, `None` for those that are not strings; or `None` if it is not a list, which is a problem.
pub(super) fn list<'json>(
    name: &'static str,
    value: Option<&'json RawValue>,
    items: Items,
    problems: &mut Problems,
) -> Option<Vec<Option<Cow<'json, str>>>> {
    struct List {
        items: Items,
    }
    impl<'de> Visitor<'de> for List {
        type Value = (Vec<Option<Cow<'de, str>>>, usize);

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let (mut texts, mut bad) = (Vec::new(), 0);
            while let Some(item) = list.next_element::<&'de RawValue>()? {
                let text = string(item);
                let is_null = self.items == Items::StringsAndNulls && item.get() == "null";
                bad += usize::from(text.is_none() && !is_null);
                texts.push(text);
            }
            Ok((texts, bad))
        }
    }
    impl<'de> DeserializeSeed<'de> for List {
        type Value = (Vec<Option<Cow<'de, str>>>, usize);

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_seq(self)
        }
    }
    let mut json = serde_json::Deserializer::from_str(value.filter(is_not_null)?.get());
    match (List { items }).deserialize(&mut json) {
        Ok((texts, bad)) => {
            if bad > 0 {
                problems.add(Problem::Items(name, bad));
            }
            Some(texts)
        }
        Err(_) => {
            problems.add(Problem::Field(name, "a list"));
            None
        }
    }
}

/// A number that is not negative.
pub(super) fn number(value: Option<&RawValue>) -> Option<u32> {
    serde_json::from_str(value?.get()).ok()
}
