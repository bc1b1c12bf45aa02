//! The member `sourceMaps`, selfprof's own.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use selfprof_trace::foreign::{ForeignTrace, LimitExceeded, Location, Problem, ProblemKind, Remedy};
use serde_json::value::RawValue;

use super::evaluated::WrittenResources;
use super::lists::ForeignList;
use crate::json::write_list;
use crate::script_map::ScriptMap;

const LIST: &str = "sourceMaps";

/// Writes the member, followed by a comma, unless there are no maps.
pub(super) fn write_source_maps(
    out: &mut impl Write,
    resources: &WrittenResources<'_>,
    maps: &[ScriptMap],
) -> io::Result<()> {
    if maps.is_empty() {
        return Ok(());
    }
    let ids: HashMap<&str, usize> = resources.urls().enumerate().map(|(index, url)| (url, index)).collect();
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

impl ForeignList for ForeignMaps {
    type Element = Box<RawValue>;
    const EXPECTED: &'static str = "a list of source maps";

    fn push(&mut self, element: Box<RawValue>, trace: &mut ForeignTrace) -> Result<(), LimitExceeded> {
        trace.count_text(element.get())?;
        self.list.push(element);
        Ok(())
    }

    fn set_unreadable(&mut self) {
        self.is_unreadable = true;
    }
}
