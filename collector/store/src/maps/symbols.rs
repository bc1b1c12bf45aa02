//! The original functions of frames.

use std::num::NonZeroU32;

use selfprof_source_maps::{Map, apply};
use selfprof_trace::{Frame, InternError, Micros, Sample, Stack, StackId, Trace};

use super::ReleaseMaps;
use crate::query::FrameInfo;

impl ReleaseMaps {
    /// Replaces functions of generated code by their originals. Files are as the maps name them, so that they do not
    /// depend on where a release is served from.
    pub fn symbolize(&self, frames: &mut [&mut FrameInfo]) {
        if self.is_empty() {
            return;
        }
        // A trace has no way to fail at these sizes, and frames that stay as they are do no harm.
        let _ = self.try_symbolize(frames);
    }

    /// The same trace with the functions of the sources.
    pub fn symbolized(&self, trace: &Trace) -> Trace {
        let mut functions: Vec<FrameInfo> =
            trace.frames().iter().map(|(id, _)| FrameInfo::of(trace, id)).collect();
        self.symbolize(&mut functions.iter_mut().collect::<Vec<_>>());
        with_functions(trace, &functions).unwrap_or_else(|_| trace.clone())
    }

    fn try_symbolize(&self, frames: &mut [&mut FrameInfo]) -> Result<(), InternError> {
        let mut trace = Trace::new();
        let mut mapped = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let Some(map) = self.of_script(&frame.file) else { continue };
            let number =
                |number: Option<i32>| number.and_then(|number| NonZeroU32::new(u32::try_from(number).ok()?));
            let name = trace.name(&frame.name)?;
            // The map's number stands for the script, so that the map's sources are relative to nothing.
            let resource = Some(trace.resource(&map.to_string())?);
            let frame = Frame { name, resource, line: number(frame.line), column: number(frame.column) };
            let frame = trace.frame(frame)?;
            let stack = Some(trace.stack(Stack { parent: None, frame })?);
            trace.push_sample(Sample { timestamp: Micros(index as u64), stack, marker: None });
            mapped.push(index);
        }
        let map_of =
            |number: &str| -> Option<&Map> { Some(&self.maps.get(number.parse::<usize>().ok()?)?.1) };
        let (result, _) = apply(&trace, map_of)?;
        for (sample, index) in result.samples().iter().zip(mapped) {
            let Some(stack) = sample.stack else { continue };
            let frame = result.frames()[result.stacks()[stack].frame];
            let Some(resource) = frame.resource else { continue };
            let file = &result.resources()[resource];
            // A number: the map does not have this function.
            if file.parse::<usize>().is_ok() {
                continue;
            }
            let number =
                |number: Option<NonZeroU32>| number.and_then(|number| i32::try_from(number.get()).ok());
            *frames[index] = FrameInfo {
                name: result.names()[frame.name].to_owned(),
                file: file.to_owned(),
                line: number(frame.line),
                column: number(frame.column),
            };
        }
        Ok(())
    }
}

/// A trace in which each frame has another function.
fn with_functions(trace: &Trace, functions: &[FrameInfo]) -> Result<Trace, InternError> {
    let mut changed = Trace::new();
    let number = |number: Option<i32>| number.and_then(|number| NonZeroU32::new(u32::try_from(number).ok()?));
    let mut frames = Vec::with_capacity(functions.len());
    for function in functions {
        let name = changed.name(&function.name)?;
        let resource = if function.file.is_empty() { None } else { Some(changed.resource(&function.file)?) };
        let frame = Frame { name, resource, line: number(function.line), column: number(function.column) };
        frames.push(changed.frame(frame)?);
    }
    let mut stacks = Vec::with_capacity(trace.stacks().len());
    for (_, stack) in trace.stacks().iter() {
        let parent = stack.parent.map(|parent: StackId| stacks[parent.index()]);
        stacks.push(changed.stack(Stack { parent, frame: frames[stack.frame.index()] })?);
    }
    for sample in trace.samples() {
        changed.push_sample(Sample { stack: sample.stack.map(|stack| stacks[stack.index()]), ..*sample });
    }
    Ok(changed)
}
