//! Applying source maps to a trace.

use std::collections::HashMap;

use selfprof_trace::{Frame, FrameId, InternError, ResourceId, Sample, Stack, StackId, Trace};

use crate::excerpt::Excerpt;
use crate::map::{Map, Original};
use crate::url::resolve;

/// The number of functions that were mapped, and of those that were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The functions with a position in a script.
    pub with_position: usize,
    /// Those of them whose script has a map.
    pub with_map: usize,
    /// Those of them that were found in the map.
    pub mapped: usize,
    /// Those of them that the map's scopes hide.
    pub hidden: usize,
}

/// What a map has about a function, besides its name and location.
#[derive(Clone, Copy, Debug)]
pub struct MappedFunction<'map> {
    /// The function in the generated code.
    pub generated: FrameId,
    /// The text around it, if the map contains the source.
    pub excerpt: Option<Excerpt<'map>>,
    /// How many columns the mapping is before the function in the generated code, see
    /// [`FunctionPlace::ahead`](crate::FunctionPlace::ahead).
    pub ahead: u32,
    /// The name that the source in the map gives an anonymous function.
    pub inferred: Option<&'map str>,
}

/// Copies a trace, with the original names and locations of functions.
///
/// `map_of` returns the map of a script by its URL. All samples are kept. Functions that are not in a map are kept
/// unchanged, and functions with the same original are merged. Functions that a map [hides] are removed from stacks, so
/// that their time counts for their callers, unless nothing else is on the stack.
///
/// [hides]: https://tc39.es/ecma426/branch/proposal-scopes/#sec-generated-range-record-type
///
/// Fails if a table is full, which requires billions of functions.
pub fn apply<'map>(
    trace: &Trace,
    map_of: impl FnMut(&str) -> Option<&'map Map>,
) -> Result<(Trace, Counts), InternError> {
    apply_with_sources(trace, map_of, |_, _| {})
}

/// Like [`apply`], but also calls `on_mapped` for each function of the new trace that is in a map.
pub fn apply_with_sources<'map>(
    trace: &Trace,
    mut map_of: impl FnMut(&str) -> Option<&'map Map>,
    mut on_mapped: impl FnMut(FrameId, MappedFunction<'map>),
) -> Result<(Trace, Counts), InternError> {
    let mut mapped = Trace::new();
    let mut counts = Counts::default();
    let maps: Vec<Option<&Map>> = trace.resources().iter().map(|(_, url)| map_of(url)).collect();
    let mut resources = Resources::default();
    let mut frames: Vec<FrameId> = Vec::with_capacity(trace.frames().len());
    let mut hidden: Vec<bool> = Vec::with_capacity(trace.frames().len());
    for (generated, frame) in trace.frames().iter() {
        let lookup = look_up(trace, &frame, &maps, &mut counts);
        hidden.push(matches!(lookup, Lookup::Hidden));
        frames.push(match lookup {
            Lookup::Mapped(found) => {
                let Original { excerpt, ahead, inferred, .. } = found.original;
                let function = MappedFunction { generated, excerpt, ahead, inferred };
                // A source without a name is no place that anybody could look at, so the generated place stays.
                let has_place = found.original.source.is_some();
                let frame = found.into_frame(trace, &frame, &mut mapped, &mut resources)?;
                let id = mapped.frame(frame)?;
                if has_place {
                    on_mapped(id, function);
                }
                id
            }
            Lookup::Hidden | Lookup::Unmapped => {
                let name = mapped.name(&trace.names()[frame.name])?;
                let resource = frame.resource.map(|id| resources.raw(id, trace, &mut mapped)).transpose()?;
                mapped.frame(Frame { name, resource, ..frame })?
            }
        });
    }
    // `None` for stacks of which every frame is hidden.
    let mut stacks: Vec<Option<StackId>> = Vec::with_capacity(trace.stacks().len());
    for (_, Stack { parent, frame }) in trace.stacks().iter() {
        let parent = parent.and_then(|parent| stacks[parent.index()]);
        stacks.push(match hidden[frame.index()] {
            true => parent,
            false => Some(mapped.stack(Stack { parent, frame: frames[frame.index()] })?),
        });
    }
    for sample in trace.samples() {
        let stack = match sample.stack {
            None => None,
            Some(id) => Some(match stacks[id.index()] {
                Some(stack) => stack,
                None => {
                    mapped.stack(Stack { parent: None, frame: frames[trace.stacks()[id].frame.index()] })?
                }
            }),
        };
        mapped.push_sample(Sample { stack, ..*sample });
    }
    mapped.set_calls(trace.calls().map(|calls| {
        calls.with_frames(|frame| Some(frames[frame.index()]).filter(|_| !hidden[frame.index()]))
    }));
    mapped.set_entries(trace.entries().cloned());
    mapped.set_waiting(trace.waiting().cloned());
    mapped.set_labels(trace.labels().cloned());
    Ok((mapped, counts))
}

/// How many bytes the URLs of scripts add to the names of their sources. Names beyond that stay relative.
const MAX_RESOLVED: usize = 1 << 27;

/// The resources of the new trace, cached because many functions may share one with a long name.
#[derive(Default)]
struct Resources {
    /// What URLs of scripts have added.
    resolved: usize,
    /// By script, and the source in the script's map; `None` is the script itself.
    known: HashMap<(ResourceId, Option<u32>), ResourceId>,
}

impl Resources {
    fn raw(&mut self, id: ResourceId, trace: &Trace, mapped: &mut Trace) -> Result<ResourceId, InternError> {
        self.get((id, None), mapped, || trace.resources()[id].to_owned())
    }

    /// The source of a map, whose name is relative to the script.
    fn source(
        &mut self,
        (script, index): (ResourceId, u32),
        name: &str,
        trace: &Trace,
        mapped: &mut Trace,
    ) -> Result<ResourceId, InternError> {
        let base = &trace.resources()[script];
        let is_short = self.resolved.saturating_add(base.len()) <= MAX_RESOLVED;
        let key = (script, Some(index));
        if is_short && !self.known.contains_key(&key) {
            self.resolved += base.len();
        }
        self.get(key, mapped, || if is_short { resolve(base, name) } else { name.to_owned() })
    }

    fn get(
        &mut self,
        key: (ResourceId, Option<u32>),
        mapped: &mut Trace,
        url: impl FnOnce() -> String,
    ) -> Result<ResourceId, InternError> {
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let id = mapped.resource(&url())?;
        self.known.insert(key, id);
        Ok(id)
    }
}

/// The result of looking up a function in its map.
enum Lookup<'map> {
    Mapped(Found<'map>),
    /// The map hides it.
    Hidden,
    /// There is no map, or it has no mapping.
    Unmapped,
}

/// The original of a function, and its script.
struct Found<'map> {
    original: Original<'map>,
    resource: ResourceId,
}

fn look_up<'map>(
    trace: &Trace,
    frame: &Frame,
    maps: &[Option<&'map Map>],
    counts: &mut Counts,
) -> Lookup<'map> {
    let Some((resource, position)) = frame.resource.zip(frame.position()) else { return Lookup::Unmapped };
    counts.with_position += 1;
    let Some(map) = maps[resource.index()] else { return Lookup::Unmapped };
    counts.with_map += 1;
    let (line, column, name) = (position.line.get(), position.column.get(), &trace.names()[frame.name]);
    if map.hides(line, column, name) {
        counts.hidden += 1;
        return Lookup::Hidden;
    }
    let Some(original) = map.find(line, column, name) else { return Lookup::Unmapped };
    counts.mapped += 1;
    Lookup::Mapped(Found { original, resource })
}

impl Found<'_> {
    fn into_frame(
        self,
        trace: &Trace,
        frame: &Frame,
        mapped: &mut Trace,
        resources: &mut Resources,
    ) -> Result<Frame, InternError> {
        let Self { original, resource } = self;
        let generated = &trace.names()[frame.name];
        // V8 prefixes the names of accessors; the source text only has the name itself.
        let prefix =
            ["get ", "set ", "async ", "static "].into_iter().find(|prefix| generated.starts_with(prefix));
        let name = match (original.name, prefix) {
            (None, _) => generated.to_owned(),
            (Some(name), Some(prefix)) if !name.is_empty() && !name.starts_with(prefix) => {
                format!("{prefix}{name}")
            }
            (Some(name), _) => name.to_owned(),
        };
        // Before the resource, so that the tables are filled in the order of frames.
        let name = mapped.name(&name)?;
        let Some(source) = original.source else {
            return Ok(Frame { name, resource: Some(resources.raw(resource, trace, mapped)?), ..*frame });
        };
        let place = (resource, original.source_index);
        let source = resources.source(place, source, trace, mapped)?;
        Ok(Frame {
            name,
            resource: Some(source),
            line: original.line.try_into().ok(),
            column: original.column.try_into().ok(),
        })
    }
}

#[cfg(test)]
mod tests;
