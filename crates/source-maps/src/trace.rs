//! Traces with original places.

use std::collections::HashMap;

use selfprof_trace::{Frame, FrameId, InternError, ResourceId, Sample, Stack, StackId, Trace};

use crate::url::resolve;
use crate::{Excerpt, Map};

/// How many functions have a place in a script, and how many of them were found in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The functions with a place.
    pub placed: usize,
    /// Those of them whose script has a map.
    pub with_map: usize,
    /// Those of them that the map knows.
    pub mapped: usize,
    /// Those of them that the map hides, by its scopes. They are neither mapped nor left as they are.
    pub hidden: usize,
}

/// A copy of a trace in which functions have the places and names that the maps of their scripts tell.
///
/// `map_of` gives the map of a script by its URL. Every sample stays; functions that no map knows stay as they are; functions
/// that turn out to be the same in the source are one. What a map [hides] is left out of stacks, so that its time is its
/// caller's; where nothing else is on the stack, it stays.
///
/// [hides]: https://tc39.es/ecma426/branch/proposal-scopes/#sec-generated-range-record-type
///
/// Fails when a table is full, which takes a trace with billions of functions.
pub fn apply<'map>(
    trace: &Trace,
    map_of: impl FnMut(&str) -> Option<&'map Map>,
) -> Result<(Trace, Counts), InternError> {
    apply_with_excerpts(trace, map_of, |_, _| {})
}

/// As [`apply`]; `on_excerpt` is told where in its source each function of the new trace stands, if a map holds the source.
pub fn apply_with_excerpts<'map>(
    trace: &Trace,
    mut map_of: impl FnMut(&str) -> Option<&'map Map>,
    mut on_excerpt: impl FnMut(FrameId, Excerpt<'map>),
) -> Result<(Trace, Counts), InternError> {
    let mut mapped = Trace::new();
    let mut counts = Counts::default();
    let maps: Vec<Option<&Map>> = trace.resources().iter().map(|(_, url)| map_of(url)).collect();
    let mut resources = Resources::default();
    let mut frames: Vec<FrameId> = Vec::with_capacity(trace.frames().len());
    let mut hidden: Vec<bool> = Vec::with_capacity(trace.frames().len());
    for (_, frame) in trace.frames().iter() {
        let seen = seen(trace, &frame, &maps, &mut counts);
        hidden.push(matches!(seen, Seen::Hidden));
        frames.push(match seen {
            Seen::Placed(found) => {
                let excerpt = found.place.excerpt;
                let frame = found.into_frame(trace, &frame, &mut mapped, &mut resources)?;
                let id = mapped.frame(frame)?;
                if let Some(excerpt) = excerpt {
                    on_excerpt(id, excerpt);
                }
                id
            }
            Seen::Hidden | Seen::Raw => {
                let name = mapped.name(&trace.names()[frame.name])?;
                let resource = frame.resource.map(|id| resources.raw(id, trace, &mut mapped)).transpose()?;
                mapped.frame(Frame { name, resource, ..frame })?
            }
        });
    }
    // `None` are those of which all is hidden.
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
    mapped.set_entries(trace.entries().cloned());
    Ok((mapped, counts))
}

/// The resources of the new trace. Any number of functions are of one, so that its name, which may be long, is looked at once.
#[derive(Default)]
struct Resources {
    /// By a script of the trace, and a source of the script's map; `None` is the script itself.
    known: HashMap<(ResourceId, Option<u32>), ResourceId>,
}

impl Resources {
    fn raw(&mut self, id: ResourceId, trace: &Trace, mapped: &mut Trace) -> Result<ResourceId, InternError> {
        self.get((id, None), mapped, || trace.resources()[id].to_owned())
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

/// What the maps make of a function.
enum Seen<'map> {
    Placed(Found<'map>),
    /// A map says that it is to be left out.
    Hidden,
    /// No map knows it.
    Raw,
}

/// A function's place in a source.
struct Found<'map> {
    place: crate::map::Place<'map>,
    resource: ResourceId,
}

fn seen<'map>(trace: &Trace, frame: &Frame, maps: &[Option<&'map Map>], counts: &mut Counts) -> Seen<'map> {
    let Some((resource, position)) = frame.resource.zip(frame.position()) else { return Seen::Raw };
    counts.placed += 1;
    let Some(map) = maps[resource.index()] else { return Seen::Raw };
    counts.with_map += 1;
    let (line, column, name) = (position.line.get(), position.column.get(), &trace.names()[frame.name]);
    if map.hides(line, column, name) {
        counts.hidden += 1;
        return Seen::Hidden;
    }
    let Some(place) = map.find(line, column, name) else { return Seen::Raw };
    counts.mapped += 1;
    Seen::Placed(Found { place, resource })
}

impl Found<'_> {
    fn into_frame(
        self,
        trace: &Trace,
        frame: &Frame,
        mapped: &mut Trace,
        resources: &mut Resources,
    ) -> Result<Frame, InternError> {
        let Self { place, resource } = self;
        let generated = &trace.names()[frame.name];
        // V8 says of accessors that they are; of their name, the source tells no more than that.
        let prefix =
            ["get ", "set ", "async ", "static "].into_iter().find(|prefix| generated.starts_with(prefix));
        let name = match (place.name, prefix) {
            (None, _) => generated.to_owned(),
            (Some(name), Some(prefix)) if !name.is_empty() && !name.starts_with(prefix) => {
                format!("{prefix}{name}")
            }
            (Some(name), _) => name.to_owned(),
        };
        let key = (resource, Some(place.source_index));
        // After the name, so that tables fill in the order of frames.
        let name = mapped.name(&name)?;
        let source = resources.get(key, mapped, || resolve(&trace.resources()[resource], place.source))?;
        Ok(Frame {
            name,
            resource: Some(source),
            line: place.line.try_into().ok(),
            column: place.column.try_into().ok(),
        })
    }
}

#[cfg(test)]
mod tests;
