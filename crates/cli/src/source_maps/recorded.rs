//! The source maps that a recording took from the program.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use selfprof_formats::ScriptMap;
use selfprof_source_maps::{Comments, json_of_data_url, without_guard};

use super::finder::{linked, local_file, read, read_text};
use crate::terminal::names::printable;

/// How many bytes the maps of a recording may have together.
const MAX_BYTES: usize = 1 << 28;

/// At most this many bad maps are named; the rest are counted.
const MAX_WARNINGS: usize = 5;

/// The maps of scripts that were compiled in memory, from the URLs of the scripts and of their maps. A script whose
/// file leads to the same map needs none. Tells `report` which are ignored.
pub fn recorded_maps(
    urls: &[(String, String)],
    report: &mut dyn FnMut(fmt::Arguments<'_>),
) -> Vec<ScriptMap> {
    let mut by_script: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (script, url) in urls {
        let known = by_script.entry(script).or_default();
        if !known.contains(&url.as_str()) {
            known.push(url);
        }
    }
    let mut maps = Vec::new();
    let (mut ambiguous, mut bad, mut bytes) = (0, 0, 0);
    for (script, urls) in by_script {
        let [url] = urls[..] else {
            ambiguous += 1;
            continue;
        };
        let map = map_of(script, url).and_then(|map| {
            bytes += map.as_ref().map_or(0, |map| map.json.len());
            if bytes > MAX_BYTES {
                Err(format!("all maps together have more than {} MiB", MAX_BYTES >> 20))
            } else {
                Ok(map)
            }
        });
        match map {
            Ok(map) => maps.extend(map),
            Err(reason) => {
                if bad < MAX_WARNINGS {
                    report(format_args!(
                        "ignored the source map of {}: {}",
                        printable(script),
                        printable(&reason)
                    ));
                }
                bad += 1;
            }
        }
    }
    if bad > MAX_WARNINGS {
        report(format_args!("ignored {} more bad source maps", bad - MAX_WARNINGS));
    }
    if ambiguous > 0 {
        report(format_args!(
            "ignored the source maps of {ambiguous} scripts that were compiled several times, with different maps"
        ));
    }
    maps
}

/// The map, unless the script's file leads to it, or there is no such file.
fn map_of(script: &str, url: &str) -> Result<Option<ScriptMap>, String> {
    let file = local_file(script);
    let on_disk = file.as_deref().and_then(read_text);
    if on_disk.is_some_and(|code| Comments::of(&code).mapping_url == Some(url)) {
        return Ok(None);
    }
    let json = if url.starts_with("data:") {
        json_of_data_url(url).map_err(|error| error.to_string())?
    } else {
        let path = linked(file.as_deref().unwrap_or(Path::new(script)), url);
        match read(&path) {
            Some(json) => json,
            None => return Ok(None),
        }
    };
    let text = String::from_utf8_lossy(&json);
    let json = without_guard(&text);
    ScriptMap::new(script.to_owned(), json).map(Some).ok_or_else(|| "it is not a JSON object".to_owned())
}
