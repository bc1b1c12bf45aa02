//! Names of anonymous functions, inferred from their sources.
//!
//! A trace keeps the standard names, which are empty. Inferred names are a table beside it, for what people read.

use std::collections::HashMap;

use selfprof_formats::Thread;
use selfprof_source_maps::{FunctionPlace, TOP_LEVEL, infer_names};
use selfprof_trace::{Frame, FrameId, InternError, Stack, Trace};

/// The mark of an inferred name, after the name.
pub const MARK: char = '*';

/// The inferred names of a trace's functions. They may contain control characters.
pub type InferredNames = HashMap<FrameId, String>;

/// What else is known of a function that a source map has given another place, or of one that was compiled in memory.
#[derive(Clone, Debug, Default)]
pub struct MappedFunction {
    /// The name that the source in the map gives it.
    pub inferred: Option<String>,
    /// How many columns its place is from its parameters, see [`FunctionPlace::ahead`]. `None` if its place is not in a
    /// file.
    pub ahead: Option<u32>,
    /// The script that it was in, and its place there, unless no file has that script.
    pub generated: Option<(String, FunctionPlace)>,
}

/// Infers names, from the source in the map, or else the original file, or else the generated script. `mapped` are the
/// functions whose place is not where V8 found them, and `read` returns a script by its URL.
pub fn infer(
    trace: &Trace,
    mapped: &mut HashMap<FrameId, MappedFunction>,
    mut read: impl FnMut(&str) -> Option<String>,
) -> InferredNames {
    let mut names = InferredNames::new();
    let mut originals = Scripts::default();
    let mut unnamed = Vec::new();
    for (id, frame) in trace.frames().iter().filter(|(_, frame)| trace.names()[frame.name].is_empty()) {
        let Some((resource, position)) = frame.resource.zip(frame.position()) else { continue };
        let (line, column) = (position.line.get(), position.column.get());
        let known = mapped.get_mut(&id).map(std::mem::take);
        let MappedFunction { inferred, ahead, generated } =
            known.unwrap_or(MappedFunction { ahead: Some(0), ..MappedFunction::default() });
        match (inferred, ahead) {
            (Some(name), _) => {
                names.insert(id, name);
                continue;
            }
            (None, Some(ahead)) => {
                let place = FunctionPlace { line, column, ahead };
                // The code of a script needs no look into it.
                if place.is_script() {
                    names.insert(id, TOP_LEVEL.to_owned());
                    continue;
                }
                originals.add(&trace.resources()[resource], id, place);
            }
            (None, None) => {}
        }
        unnamed.extend(generated.map(|generated| (id, generated)));
    }
    originals.infer(&mut read, &mut names);
    let mut scripts = Scripts::default();
    for (id, (url, place)) in &unnamed {
        if !names.contains_key(id) {
            scripts.add(url, *id, *place);
        }
    }
    scripts.infer(&mut read, &mut names);
    names
}

/// Anonymous functions by their script.
#[derive(Default)]
struct Scripts<'url>(HashMap<&'url str, Vec<(FrameId, FunctionPlace)>>);

impl<'url> Scripts<'url> {
    fn add(&mut self, url: &'url str, id: FrameId, place: FunctionPlace) {
        self.0.entry(url).or_default().push((id, place));
    }

    fn infer(self, read: &mut impl FnMut(&str) -> Option<String>, names: &mut InferredNames) {
        for (url, functions) in self.0 {
            let Some(text) = read(url) else { continue };
            let places: Vec<FunctionPlace> = functions.iter().map(|&(_, place)| place).collect();
            let inferred = functions.iter().zip(infer_names(&text, url, &places));
            names.extend(inferred.filter_map(|(&(id, _), name)| Some((id, name?))));
        }
    }
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
