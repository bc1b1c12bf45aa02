//! Traces with original places.

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
}

/// A copy of a trace in which functions have the places and names that the maps of their scripts tell.
///
/// `map_of` gives the map of a script by its URL. Every sample stays; functions that no map knows stay as they are; functions
/// that turn out to be the same in the source are one.
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
    let mut frames: Vec<FrameId> = Vec::with_capacity(trace.frames().len());
    for (_, frame) in trace.frames().iter() {
        frames.push(match found(trace, &frame, &maps, &mut counts) {
            Some(found) => {
                let excerpt = found.place.excerpt;
                let frame = found.into_frame(trace, &frame, &mut mapped)?;
                let id = mapped.frame(frame)?;
                if let Some(excerpt) = excerpt {
                    on_excerpt(id, excerpt);
                }
                id
            }
            None => {
                let name = mapped.name(&trace.names()[frame.name])?;
                let resource =
                    frame.resource.map(|id| mapped.resource(&trace.resources()[id])).transpose()?;
                mapped.frame(Frame { name, resource, ..frame })?
            }
        });
    }
    let mut stacks: Vec<StackId> = Vec::with_capacity(trace.stacks().len());
    for (_, Stack { parent, frame }) in trace.stacks().iter() {
        let parent = parent.map(|parent| stacks[parent.index()]);
        stacks.push(mapped.stack(Stack { parent, frame: frames[frame.index()] })?);
    }
    for sample in trace.samples() {
        mapped.push_sample(Sample { stack: sample.stack.map(|stack| stacks[stack.index()]), ..*sample });
    }
    mapped.set_entries(trace.entries().cloned());
    Ok((mapped, counts))
}

/// A function's place in a source.
struct Found<'map> {
    place: crate::map::Place<'map>,
    resource: ResourceId,
}

fn found<'map>(
    trace: &Trace,
    frame: &Frame,
    maps: &[Option<&'map Map>],
    counts: &mut Counts,
) -> Option<Found<'map>> {
    let (resource, position) = (frame.resource?, frame.position()?);
    counts.placed += 1;
    let map = maps[resource.index()]?;
    counts.with_map += 1;
    let place = map.find(position.line.get(), position.column.get(), &trace.names()[frame.name])?;
    counts.mapped += 1;
    Some(Found { place, resource })
}

impl Found<'_> {
    fn into_frame(self, trace: &Trace, frame: &Frame, mapped: &mut Trace) -> Result<Frame, InternError> {
        let Self { place, resource } = self;
        let generated = &trace.names()[frame.name];
        // V8 says of accessors that they are; of their name, the source tells no more than that.
        let prefix =
            ["get ", "set ", "async ", "static "].into_iter().find(|prefix| generated.starts_with(prefix));
        let name = match (place.name, prefix) {
            (None, _) => generated.to_owned(),
            (Some(name), Some(prefix)) if !name.is_empty() => format!("{prefix}{name}"),
            (Some(name), _) => name.to_owned(),
        };
        let source = resolve(&trace.resources()[resource], place.source);
        Ok(Frame {
            name: mapped.name(&name)?,
            resource: Some(mapped.resource(&source)?),
            line: place.line.try_into().ok(),
            column: place.column.try_into().ok(),
        })
    }
}

#[cfg(test)]
mod tests;
