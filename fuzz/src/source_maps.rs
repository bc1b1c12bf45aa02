//! Source maps, links to them, and names found in sources.

use data_encoding::BASE64;
use selfprof_source_maps::{
    Comments, Counts, FunctionPlace, Map, MapError, MappedFunction, apply, apply_with_sources, infer_names,
};
use selfprof_trace::{Frame, Micros, NameId, ResourceId, Sample, Stack, Trace};

use crate::comparable::{assert_sound, spelled};
use crate::profiles::checked;

/// The functions of a trace are at every position up to these.
const LINES: u32 = 4;
const COLUMNS: u32 = 24;

/// A source map, applied to a trace.
pub fn source_map(input: &[u8]) {
    let Some(map) = checked(Map::read(input)) else { return };
    assert!(map.problems().iter().all(|problem| !problem.to_string().is_empty()));
    assert!(map.debug_id().is_none_or(|id| !id.bytes().any(|byte| byte.is_ascii_uppercase())));
    let trace = trace(
        &["a", "", "get b", "async"],
        (1..=LINES).flat_map(|line| (1..=COLUMNS).map(move |column| (line, column))),
    );
    let counts = applied(&trace, &map, |_| true);
    assert_eq!((counts.with_position, counts.with_map), (trace.frames().len(), trace.frames().len()));
    assert!(counts.mapped <= counts.with_map);
    // Without a map, the trace is unchanged.
    let Ok((same, counts)) = apply(&trace, |_| None) else { panic!("no table is full") };
    assert_eq!((spelled(&same), counts.with_map), (spelled(&trace), 0));
}

/// A map in a `data:` URL: any text after the scheme, and the input as base64, which must equal reading it directly.
pub fn data_url(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = checked(Map::from_data_url(text));
        let _ = checked(Map::from_data_url(&format!("data:{text}")));
    }
    let url = format!("data:application/json;charset=utf-8;base64,{}", BASE64.encode(input));
    let (of_url, direct) = (checked(Map::from_data_url(&url)), checked(Map::read(input)));
    assert_eq!(of_url.as_ref().map(shown), direct.as_ref().map(shown));
}

/// A source with functions at arbitrary positions.
pub fn names(input: &[u8]) {
    let source = String::from_utf8_lossy(input);
    let places: Vec<(u32, u32)> = (0..)
        .zip(source.split('\n').take(6))
        .flat_map(|(line, text)| {
            (0..=text.encode_utf16().count().min(40) as u32).map(move |column| (line, column))
        })
        .collect();
    let map = serde_json::json!({
        "version": 3, "sources": ["a.ts"], "names": [], "sourcesContent": [source], "mappings": identity(&places),
    });
    let map: Result<Map, MapError> = Map::read(map.to_string().as_bytes());
    let Ok(map) = map else { panic!("{map:?}") };
    let trace = trace(&["minified"], places.iter().map(|(line, column)| (line + 1, column + 1)));
    let is_in_source =
        |name: &str| ["", "minified", "constructor", "default"].contains(&name) || source.contains(name);
    let counts = applied(&trace, &map, is_in_source);
    assert_eq!(counts.mapped, places.len());
    let places: Vec<FunctionPlace> = places
        .iter()
        .map(|(line, column)| FunctionPlace { line: line + 1, column: column + 1, ahead: 0 })
        .collect();
    assert_eq!(infer_names(&source, "a.ts", &places).len(), places.len());
}

/// A script whose comments may link to a map.
pub fn comments(input: &[u8]) {
    let code = String::from_utf8_lossy(input);
    let Comments { mapping_url, debug_id } = Comments::of(&code);
    for (key, value) in [("sourceMappingURL=", mapping_url), ("debugId=", debug_id)] {
        let Some(value) = value else { continue };
        assert!(!value.is_empty() && !value.contains(char::is_whitespace));
        assert!(code.contains(&format!("{key}{value}")));
    }
    // Compares with a simple search, line by line.
    let of_line = |line: &str| {
        let (before, value) = line.rsplit_once("sourceMappingURL=")?;
        let is_comment = ["//# ", "//@ "].iter().any(|start| before.ends_with(start));
        let is_plain =
            !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        (is_comment && is_plain).then(|| value.to_owned())
    };
    if code.matches("sourceMappingURL=").count() == 1
        && let Some(url) = code.split('\n').find_map(of_line)
    {
        assert_eq!(mapping_url, Some(&*url));
    }
    if let Some(url) = mapping_url.filter(|url| url.starts_with("data:")) {
        let _ = checked(Map::from_data_url(url));
    }
}

/// A trace with functions of these names at these positions of one script, with one sample each.
fn trace(names: &[&str], places: impl Iterator<Item = (u32, u32)>) -> Trace {
    let mut trace = Trace::new();
    let ids: Vec<NameId> = names.iter().filter_map(|name| trace.name(name).ok()).collect();
    let resource: Option<ResourceId> = trace.resource("https://host/dist/a.min.js").ok();
    let mut parent = None;
    for (index, (line, column)) in places.enumerate() {
        let (name, line, column) = (ids[index % ids.len()], line.try_into().ok(), column.try_into().ok());
        let Ok(frame) = trace.frame(Frame { name, resource, line, column }) else { continue };
        let stack = trace.stack(Stack { parent, frame }).ok();
        // Stacks are up to eight frames deep.
        parent = stack.filter(|_| index % 8 != 7);
        trace.push_sample(Sample { timestamp: Micros(index as u64), stack, marker: None });
    }
    trace
}

/// Applies the map. No sample may be lost, and excerpts must be short.
fn applied(trace: &Trace, map: &Map, is_name: impl Fn(&str) -> bool) -> Counts {
    let mut excerpts = Vec::new();
    let on_mapped = |id, function: MappedFunction<'_>| {
        if let Some(excerpt) = function.excerpt {
            let (first, lines) = excerpt.lines(2, 9);
            excerpts.push((id, first, lines.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        }
    };
    let Ok((mapped, counts)) = apply_with_sources(trace, |_| Some(map), on_mapped) else {
        panic!("no table is full");
    };
    assert_sound(&mapped);
    assert_eq!(mapped.samples().len(), trace.samples().len());
    for (id, first, lines) in excerpts {
        let frame = mapped.frames()[id];
        assert!(first >= 1 && lines.len() <= 12 && lines.iter().all(|line| !line.contains('\n')));
        assert!(lines.is_empty() || frame.line.is_some_and(|line| first <= line.get()));
    }
    for (_, frame) in mapped.frames().iter() {
        assert!(
            is_name(&mapped.names()[frame.name]),
            "{:?} is not in the source",
            &mapped.names()[frame.name]
        );
    }
    counts
}

/// A map in a comparable form.
fn shown(map: &Map) -> impl PartialEq + std::fmt::Debug {
    let places = (1..3).flat_map(|line| (1..9).map(move |column| (line, column)));
    let trace = trace(&["a"], places);
    let Ok((mapped, counts)) = apply(&trace, |_| Some(map)) else { panic!("no table is full") };
    (map.debug_id().map(str::to_owned), map.file().map(str::to_owned), spelled(&mapped), counts.mapped)
}

/// Mappings of each of these positions to itself.
fn identity(places: &[(u32, u32)]) -> String {
    let mut mappings = String::new();
    let (mut line, mut column) = (0, 0);
    let mut generated = 0;
    for &(to_line, to_column) in places {
        if to_line > line {
            mappings.push_str(&";".repeat((to_line - line) as usize));
            generated = 0;
        } else if !mappings.is_empty() {
            mappings.push(',');
        }
        for number in [
            i64::from(to_column) - generated,
            0,
            i64::from(to_line) - i64::from(line),
            i64::from(to_column) - column,
        ] {
            quantity(number, &mut mappings);
        }
        (line, column, generated) = (to_line, i64::from(to_column), i64::from(to_column));
    }
    mappings
}

/// Writes a number as base64 VLQ. <https://tc39.es/ecma426/#sec-base64-vlq>
fn quantity(number: i64, out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut left = number.unsigned_abs() << 1 | u64::from(number < 0);
    loop {
        let more = if left > 31 { 32 } else { 0 };
        out.push(char::from(DIGITS[(left as usize & 31) | more]));
        left >>= 5;
        if left == 0 {
            return;
        }
    }
}
