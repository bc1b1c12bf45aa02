//! The member `sourceMaps`, selfprof's own.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};

use selfprof_trace::Trace;
use selfprof_trace::foreign::{ForeignTrace, Location, Problem, ProblemKind, Remedy};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{Exceeded, stop, write_list};
use crate::script_map::ScriptMap;

const LIST: &str = "sourceMaps";

/// Writes the member, followed by a comma, unless there are no maps.
pub(super) fn write_source_maps(out: &mut impl Write, trace: &Trace, maps: &[ScriptMap]) -> io::Result<()> {
    if maps.is_empty() {
        return Ok(());
    }
    let ids: HashMap<&str, usize> =
        trace.resources().iter().enumerate().map(|(index, (_, url))| (url, index)).collect();
    let known = maps.iter().filter_map(|map| Some((ids.get(&*map.resource)?, map)));
    write_list(out, "\"sourceMaps\":[", known, |out, (id, map)| {
        write!(out, "{{\"map\":{},\"resourceId\":{id}}}", map.json)
    })?;
    out.write_all(b"],")
}

/// What was read of the member.
#[derive(Default)]
pub(super) struct ForeignMaps {
    list: Vec<Box<RawValue>>,
    is_unreadable: bool,
}

impl ForeignMaps {
    /// The valid maps, the first of each resource. Problems of the others are reported.
    pub(super) fn validate(self, trace: &mut ForeignTrace) -> Vec<ScriptMap> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Members {
            map: Option<Box<RawValue>>,
            resource_id: Option<f64>,
        }
        let report = |trace: &mut ForeignTrace, location, value, kind, remedy| {
            trace.report(Problem { location, value, kind, remedy });
        };
        if self.is_unreadable {
            let location = Location::Member(LIST);
            report(trace, location, None, ProblemKind::SourceMapList, Remedy::NoMember);
        }
        let mut maps = Vec::new();
        let mut mapped: HashSet<String> = HashSet::new();
        for (index, element) in self.list.into_iter().enumerate() {
            let at = |member| Location::Element { list: LIST, index, member };
            let Members { map, resource_id } = serde_json::from_str(element.get()).unwrap_or_default();
            let id = resource_id.unwrap_or(f64::NAN);
            let Some(resource) = trace.resource(id).map(str::to_owned) else {
                report(trace, at("resourceId"), Some(id), ProblemKind::Dangling, Remedy::NoSourceMap);
                continue;
            };
            if mapped.contains(&resource) {
                report(trace, at("resourceId"), Some(id), ProblemKind::Duplicate, Remedy::NoSourceMap);
                continue;
            }
            let Some(map) = map.and_then(|json| ScriptMap::of_raw(resource.clone(), json)) else {
                report(trace, at("map"), None, ProblemKind::SourceMap, Remedy::NoSourceMap);
                continue;
            };
            mapped.insert(resource);
            maps.push(map);
        }
        maps
    }
}

/// Reads the list. Other programs' traces may have anything in its place.
pub(super) struct SourceMapsSeed<'read> {
    pub(super) maps: &'read mut ForeignMaps,
    /// Counts the text.
    pub(super) trace: &'read mut ForeignTrace,
    pub(super) exceeded: &'read mut Exceeded,
}

impl<'de> DeserializeSeed<'de> for SourceMapsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SourceMapsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of source maps")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<Box<RawValue>>()? {
            self.trace.count_text(element.get()).map_err(|limit| stop(limit, self.exceeded))?;
            self.maps.list.push(element);
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.refuse()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.refuse()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.refuse()
    }
}

impl SourceMapsSeed<'_> {
    fn refuse<E>(self) -> Result<(), E> {
        self.maps.is_unreadable = true;
        Ok(())
    }
}
