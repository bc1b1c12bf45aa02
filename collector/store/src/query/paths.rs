//! What stacks are: their functions, by the names of the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use datafusion::prelude::SessionContext;
use futures::future::try_join_all;
use selfprof_trace::GARBAGE_COLLECTOR;

use super::frame_info::FrameInfo;
use super::hashes::Numbers;
use super::minified::Minified;
use super::{QueryError, Reader};

/// The function that stands for garbage collection.
pub(super) static COLLECTOR: LazyLock<FrameInfo> =
    LazyLock::new(|| FrameInfo { name: GARBAGE_COLLECTOR.into(), ..FrameInfo::default() });

/// The function that stands for a stack that is not in the tables.
const UNKNOWN_STACK: &str = "(unknown stack)";

/// The frames of stacks.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// The functions of all stacks.
    pub frames: Vec<FrameInfo>,
    /// The frames of each stack, outermost first, as indexes into `frames`.
    pub stacks: Vec<Vec<usize>>,
    /// The releases whose functions have the names of a minifier.
    pub minified: Vec<Minified>,
}

impl Reader {
    /// Reads what these stacks are.
    pub(super) async fn paths(
        &self,
        app: &str,
        context: &SessionContext,
        stacks: &Numbers,
    ) -> Result<Paths, QueryError> {
        let mut known = Paths { stacks: vec![Vec::new(); stacks.len()], ..Paths::default() };
        let mut frame_numbers = Numbers::default();
        for (path, frames) in known.stacks.iter_mut().zip(self.stacks_by_hash(context, stacks).await?) {
            path.extend(
                frames.iter().flat_map(|frames| frames.iter()).map(|&frame| frame_numbers.number(frame)),
            );
        }
        let mut frames_of: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        known.frames = vec![FrameInfo::default(); frame_numbers.len()];
        for (number, frame) in self.frames_by_hash(context, &frame_numbers).await?.into_iter().enumerate() {
            let Some(frame) = frame else { continue };
            frames_of.entry(frame.release.clone()).or_default().insert(number);
            known.frames[number] = frame.function.clone();
        }
        // Such as that of a segment whose tables were written before and after a crash, with a limit that was reached
        // in between.
        if known.stacks.iter().any(Vec::is_empty) {
            let unknown = known.frames.len();
            known.frames.push(FrameInfo { name: UNKNOWN_STACK.into(), ..FrameInfo::default() });
            known.stacks.iter_mut().filter(|path| path.is_empty()).for_each(|path| path.push(unknown));
        }
        let maps = try_join_all(frames_of.keys().map(|release| self.maps.of_release(app, release))).await?;
        for ((release, numbers), maps) in frames_of.iter().zip(maps) {
            let functions = numbers.iter().map(|&number| &known.frames[number]);
            let functions = functions.map(|frame| (frame.name.as_str(), frame.file.as_str()));
            known.minified.extend(Minified::of(release, functions, &maps));
            let frames = known.frames.iter_mut().enumerate().filter(|(number, _)| numbers.contains(number));
            maps.symbolize(&mut frames.map(|(_, frame)| frame).collect::<Vec<_>>());
        }
        same_functions(&mut known.frames, &frames_of);
        Ok(known)
    }
}

/// Makes equal functions of several releases equal, although they are at different lines: those of the same name and
/// file, if each release has only one of them. Their position is that in the last release, in the order of their names.
pub(super) fn same_functions(frames: &mut [FrameInfo], frames_of: &BTreeMap<String, BTreeSet<usize>>) {
    if frames_of.len() < 2 {
        return;
    }
    type Place = (Option<i32>, Option<i32>);
    let mut places: BTreeMap<(String, String), Option<Place>> = BTreeMap::new();
    for numbers in frames_of.values() {
        let mut of_release: BTreeMap<(String, String), BTreeSet<Place>> = BTreeMap::new();
        for frame in numbers.iter().map(|&number| &frames[number]).filter(|frame| !frame.name.is_empty()) {
            let name = (frame.name.clone(), frame.file.clone());
            of_release.entry(name).or_default().insert((frame.line, frame.column));
        }
        for (name, found) in of_release {
            let only = found.first().copied().filter(|_| found.len() == 1);
            let place = places.entry(name).or_insert(only);
            *place = if place.is_some() { only } else { None };
        }
    }
    for frame in frames {
        if let Some(Some((line, column))) = places.get(&(frame.name.clone(), frame.file.clone())) {
            (frame.line, frame.column) = (*line, *column);
        }
    }
}
