//! Script files.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use selfprof_instrument::{Function, Goal, Instrumented, Position, is_instrumented};

use crate::build::Build;
use crate::error::SiteError;
use crate::files::inputs::Input;
use crate::files::text::{MAX_BYTES, read, split_mark};
use crate::files::urls::url_of;
use crate::summary::{Counts, LeftOut, Reason, Refusal};

use super::map_links::{self, MapLink};

/// What was done with a script.
#[derive(Debug, Default)]
pub struct ScriptResult {
    /// Its functions, if it is instrumented.
    pub functions: Option<Vec<Function>>,
    pub counts: Counts,
    pub left_out: Vec<LeftOut>,
    /// Where its own source map is among the inputs, which is not copied.
    pub own_maps: Vec<PathBuf>,
}

/// All inputs by their places.
pub type Places<'a> = HashMap<&'a Path, &'a Input>;

/// Instruments a script and writes it, or copies it. `goal` is what pages load it as; `None` if only browsers without
/// modules do.
pub fn instrument(
    input: &Input,
    goal: Option<Goal>,
    places: &Places<'_>,
    build: &Build,
) -> Result<ScriptResult, SiteError> {
    let mut result = ScriptResult::default();
    match instrumented(input, goal, places, build, &mut result)? {
        Ok(()) => result.counts.scripts = 1,
        Err((reason, detail)) => {
            build.output.copy(&input.place, &input.source)?;
            result.counts.copied = 1;
            let left_out = LeftOut::new(input.name(), reason);
            result.left_out.push(if detail.is_empty() { left_out } else { left_out.because(detail) });
        }
    }
    Ok(result)
}

fn instrumented(
    input: &Input,
    goal: Option<Goal>,
    places: &Places<'_>,
    build: &Build,
    result: &mut ScriptResult,
) -> Result<Result<(), Refusal>, SiteError> {
    if !input.is_selected {
        return Ok(Err((Reason::NotSelected, String::new())));
    }
    let Some(goal) = goal else { return Ok(Err((Reason::NoModules, String::new()))) };
    let text = match read(&input.source)? {
        Ok(text) => text,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (mark, source) = split_mark(&text);
    if is_instrumented(source) {
        return Ok(Err((Reason::AlreadyInstrumented, String::new())));
    }
    let goal = goal_of(&input.place, goal);
    let mut instrumented = match build.instrument(source, goal, input.first_id, &mut result.counts) {
        Ok(instrumented) => instrumented,
        Err(refusal) => return Ok(Err(refusal)),
    };
    result.left_out.extend(instrumented.untraceable.iter().map(|&index| {
        let function = &instrumented.functions[index as usize];
        let place = Position { line: function.line, column: function.column };
        LeftOut::untraceable(&input.name(), place, &function.name)
    }));
    let own = OwnMap::find(input, source, places);
    result.own_maps.clone_from(&own.places);
    let mut output = String::from(mark);
    if build.has_source_maps {
        let json = composed(&instrumented, source, input, own.json, &mut result.left_out)?;
        let place = with_suffix(&input.place, ".map");
        build.output.write(&place, &json)?;
        result.counts.source_maps = 1;
        // The link follows what was inserted, so no position changes.
        output += &linked(std::mem::take(&mut instrumented.text), &place, own.is_linked);
    } else {
        map_links::remove(&mut instrumented.text);
        output += &instrumented.text;
    }
    build.output.write(&input.place, output.as_bytes())?;
    result.functions = Some(instrumented.functions);
    Ok(Ok(()))
}

/// The name of a file decides before the pages that load it.
fn goal_of(place: &Path, of_pages: Goal) -> Goal {
    match place.extension().and_then(|extension| extension.to_str()) {
        Some("mjs") => Goal::Module,
        Some("cjs") => Goal::CommonJs,
        _ => of_pages,
    }
}

fn with_suffix(place: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(place.as_os_str());
    name.push(suffix);
    name.into()
}

/// The map of an instrumented script: composed with its own, or else to the plain script.
fn composed(
    instrumented: &Instrumented,
    source: &str,
    input: &Input,
    own: Result<Option<Vec<u8>>, String>,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<u8>, SiteError> {
    let url = format!("plain/{}", url_of(Path::new(input.place.file_name().unwrap_or_default())));
    let map = own.and_then(|own| {
        instrumented.source_map(source, &url, own.as_deref()).map_err(|error| error.to_string())
    });
    map.or_else(|problem| {
        left_out.push(LeftOut::new(input.name(), Reason::BadSourceMap).because(problem));
        let map = instrumented.source_map(source, &url, None);
        map.map_err(|error| SiteError::SourceMap(input.source.clone(), error))
    })
}

/// A text with a link to its map. Without `is_linked`, it has none: the map is for tools that find it by its name.
fn linked(mut text: String, map: &Path, is_linked: bool) -> String {
    map_links::remove(&mut text);
    if is_linked {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let name = url_of(Path::new(map.file_name().unwrap_or_default()));
        text += &format!("//# sourceMappingURL={name}\n");
    }
    text
}

/// The source map of a plain script.
struct OwnMap {
    /// The map, if there is one; or why it cannot be read.
    json: Result<Option<Vec<u8>>, String>,
    /// Whether the script links to it, or has none.
    is_linked: bool,
    /// Where it is among the inputs.
    places: Vec<PathBuf>,
}

impl OwnMap {
    fn find(input: &Input, source: &str, places: &Places<'_>) -> Self {
        let by_name = with_suffix(&input.place, ".map");
        let link = map_links::link(source);
        if let Some(Some(json)) = link.as_ref().map(|link| map_links::inline_map(&link.url)) {
            return Self { json: json.map(Some), is_linked: true, places: vec![by_name] };
        }
        let linked = link.as_ref().and_then(|MapLink { url, .. }| map_links::place(url, &input.place));
        let candidates: Vec<PathBuf> = linked.into_iter().chain([by_name]).collect();
        let found = candidates.iter().find_map(|place| Some(places.get(place.as_path())?.source.clone()));
        // The map of a script that was given alone is beside it.
        let beside = || {
            let folder = input.source.parent()?;
            let names = candidates.iter().filter_map(|place| place.file_name());
            names.map(|name| folder.join(name)).find(|path| path.is_file())
        };
        let path = found.or_else(|| beside().filter(|_| is_given_alone(input)));
        let is_linked = link.is_some() || path.is_none();
        Self { json: path.map(|path| read_map(&path)).transpose(), is_linked, places: candidates }
    }
}

/// Whether an input is not part of a folder that was given.
fn is_given_alone(input: &Input) -> bool {
    input.place.components().count() == 1
}

fn read_map(path: &Path) -> Result<Vec<u8>, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MAX_BYTES {
        return Err(format!("it has {} MB", length / 1_000_000));
    }
    fs::read(path).map_err(|error| error.to_string())
}
