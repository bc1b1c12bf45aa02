//! Names of anonymous functions, inferred from their sources.
//!
//! A trace keeps the standard names, which are empty. Inferred names are a table beside it, for what people read.

use std::collections::HashMap;

use selfprof_formats::Thread;
use selfprof_source_maps::{FunctionPlace, infer_names};
use selfprof_trace::{Frame, FrameId, InternError, ResourceId, Stack, Trace};

/// The mark of an inferred name, after the name.
pub const MARK: char = '*';

/// The inferred names of a trace's functions. They may contain control characters.
pub type InferredNames = HashMap<FrameId, String>;

/// The source of a function that is in a source map.
#[derive(Clone, Copy, Debug)]
pub struct MappedSource<'map> {
    /// The source, if the map contains it.
    pub text: Option<&'map str>,
    /// See [`FunctionPlace::ahead`]; `None` if nothing can be inferred.
    pub ahead: Option<u32>,
}

/// Infers names. `mapped` are the functions that have a location from a source map, and `read` returns a script by its URL.
pub fn infer(
    trace: &Trace,
    mapped: &HashMap<FrameId, MappedSource<'_>>,
    mut read: impl FnMut(&str) -> Option<String>,
) -> InferredNames {
    // By source: a resource, and the text in the map. Maps may contain several sources of one name.
    let mut sources: HashMap<(ResourceId, Option<*const u8>), Source<'_>> = HashMap::new();
    for (id, frame) in trace.frames().iter().filter(|(_, frame)| trace.names()[frame.name].is_empty()) {
        let known = mapped.get(&id).copied().unwrap_or(MappedSource { text: None, ahead: Some(0) });
        let place = frame.resource.zip(frame.position()).zip(known.ahead);
        let Some(((resource, position), ahead)) = place else { continue };
        let source = sources.entry((resource, known.text.map(str::as_ptr))).or_default();
        source.text = known.text;
        source.frames.push(id);
        let (line, column) = (position.line.get(), position.column.get());
        source.places.push(FunctionPlace { line, column, ahead });
    }
    let mut names = InferredNames::new();
    for ((resource, _), source) in sources {
        let inferred = match source.text {
            Some(text) => infer_names(text, &source.places),
            None => match read(&trace.resources()[resource]) {
                Some(text) => infer_names(&text, &source.places),
                None => continue,
            },
        };
        names.extend(source.frames.into_iter().zip(inferred).filter_map(|(id, name)| Some((id, name?))));
    }
    names
}

/// The anonymous functions of a source.
#[derive(Default)]
struct Source<'map> {
    text: Option<&'map str>,
    frames: Vec<FrameId>,
    places: Vec<FunctionPlace>,
}

/// The thread with inferred names as the names of its functions, marked, for formats that have one name per function.
pub fn named(thread: &Thread, names: &InferredNames) -> Result<Thread, InternError> {
    let trace = &thread.trace;
    let mut named = Trace::new();
    let mut frames: Vec<FrameId> = Vec::with_capacity(trace.frames().len());
    for (id, frame) in trace.frames().iter() {
        let name = match names.get(&id) {
            Some(name) => named.name(&format!("{name}{MARK}"))?,
            None => named.name(&trace.names()[frame.name])?,
        };
        let resource = frame.resource.map(|id| named.resource(&trace.resources()[id])).transpose()?;
        frames.push(named.frame(Frame { name, resource, ..frame })?);
    }
    let mut stacks = Vec::with_capacity(trace.stacks().len());
    for (_, Stack { parent, frame }) in trace.stacks().iter() {
        let parent = parent.map(|parent| stacks[parent.index()]);
        stacks.push(named.stack(Stack { parent, frame: frames[frame.index()] })?);
    }
    for sample in trace.samples() {
        let stack = sample.stack.map(|stack| stacks[stack.index()]);
        named.push_sample(selfprof_trace::Sample { stack, ..*sample });
    }
    named.set_calls(trace.calls().map(|calls| calls.with_frames(|frame| frames.get(frame.index()).copied())));
    named.set_entries(trace.entries().cloned());
    named.set_waiting(trace.waiting().cloned());
    named.set_labels(trace.labels().cloned());
    Ok(thread.with_trace(named))
}
