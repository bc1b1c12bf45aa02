//! What the hashes of stacks and frames stand for.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use datafusion::prelude::SessionContext;
use deltalake::arrow::array::Array;
use parking_lot::Mutex;

use super::columns::Columns;
use super::frame_info::FrameInfo;
use super::known::Known;
use super::{QueryError, Reader};

/// A function of generated code, of one release.
#[derive(Debug, Default)]
pub(super) struct GeneratedFrame {
    pub release: String,
    pub function: FrameInfo,
}

/// The hashes of the frames of a stack, outermost first. It is empty if the stack is not in the tables.
type Path = Arc<[i64]>;

/// What hashes stand for, in memory: source maps are applied to copies. A hash has the same meaning forever, so nothing
/// of this gets old. It says nothing of a session, so the deletion of a session leaves it, as it leaves stacks in the
/// tables.
pub(super) struct KnownHashes {
    stacks: Mutex<Known<i64, Path>>,
    frames: Mutex<Known<i64, Arc<GeneratedFrame>>>,
}

/// The size of all stacks in memory, and that of all frames, in bytes. A megabyte of JavaScript has some ten thousand
/// stacks of 300 bytes.
const IN_MEMORY: usize = 16 << 20;

impl Default for KnownHashes {
    fn default() -> Self {
        let (stacks, frames) = (Known::new(IN_MEMORY), Known::new(IN_MEMORY));
        Self { stacks: Mutex::new(stacks), frames: Mutex::new(frames) }
    }
}

/// Hashes that a query lists. When there are more, all rows are read.
const MAX_LISTED: usize = 1_000;

/// Numbers for hashes, in the order in which they come first.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<i64, usize>);

impl Numbers {
    /// The number of a hash.
    pub fn number(&mut self, hash: i64) -> usize {
        let next = self.0.len();
        *self.0.entry(hash).or_insert(next)
    }

    /// How many hashes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What is known of each hash, by its number, and the hashes of which nothing is.
    fn known<V: Clone>(
        &self,
        known: &Mutex<Known<i64, V>>,
        size: impl Fn(&V) -> usize,
    ) -> (Vec<Option<V>>, Vec<i64>) {
        let mut known = known.lock();
        let (mut values, mut unknown) = (vec![None; self.0.len()], Vec::new());
        for (&hash, &number) in &self.0 {
            values[number] = known.get(&hash, &size);
            unknown.extend(values[number].is_none().then_some(hash));
        }
        (values, unknown)
    }
}

/// A condition in SQL that rows with these hashes meet. Others may meet it, too.
fn condition(column: &str, hashes: &[i64]) -> String {
    if hashes.len() > MAX_LISTED {
        return "true".into();
    }
    let mut list = String::new();
    for hash in hashes {
        let _ = write!(list, "{}{hash}", if list.is_empty() { "" } else { ", " });
    }
    format!("{column} in ({list})")
}

impl Reader {
    /// The frames of stacks, by their numbers; `None` for a stack that is not in the tables.
    pub(super) async fn stacks_by_hash(
        &self,
        context: &SessionContext,
        stacks: &Numbers,
    ) -> Result<Vec<Option<Path>>, QueryError> {
        let (mut paths, unknown) = stacks.known(&self.hashes.stacks, path_size);
        if unknown.is_empty() {
            return Ok(paths);
        }
        let sql = format!("select stack, frames from stacks where {}", condition("stack", &unknown));
        for batch in &Self::rows(context, &sql).await? {
            let hashes = batch.numbers("stack")?;
            for (row, path) in batch.lists("frames")?.into_iter().enumerate() {
                let hash = hashes.value(row);
                // The same stack may be there several times.
                let Some(number) = stacks.0.get(&hash).filter(|&&number| paths[number].is_none()) else {
                    continue;
                };
                let path = Path::from(path);
                self.hashes.stacks.lock().insert(hash, Arc::clone(&path), path_size(&path));
                paths[*number] = Some(path);
            }
        }
        Ok(paths)
    }

    /// Frames by their numbers; `None` for one that is not in the tables.
    pub(super) async fn frames_by_hash(
        &self,
        context: &SessionContext,
        frames: &Numbers,
    ) -> Result<Vec<Option<Arc<GeneratedFrame>>>, QueryError> {
        let (mut found, unknown) = frames.known(&self.hashes.frames, frame_size);
        if unknown.is_empty() {
            return Ok(found);
        }
        let sql = format!(
            "select frame, release, name, resource, line, \"column\" from frames where {}",
            condition("frame", &unknown)
        );
        for batch in &Self::rows(context, &sql).await? {
            let hashes = batch.numbers("frame")?;
            let releases = batch.texts("release")?;
            let (names, files) = (batch.texts("name")?, batch.texts("resource")?);
            let (lines, columns) = (batch.small_numbers("line")?, batch.small_numbers("column")?);
            for row in 0..batch.num_rows() {
                let hash = hashes.value(row);
                let Some(number) = frames.0.get(&hash).filter(|&&number| found[number].is_none()) else {
                    continue;
                };
                let function = FrameInfo {
                    name: names.value(row).to_owned(),
                    file: files.value(row).to_owned(),
                    line: lines.is_valid(row).then(|| lines.value(row)),
                    column: columns.is_valid(row).then(|| columns.value(row)),
                };
                let frame = Arc::new(GeneratedFrame { release: releases.value(row).to_owned(), function });
                self.hashes.frames.lock().insert(hash, Arc::clone(&frame), frame_size(&frame));
                found[*number] = Some(frame);
            }
        }
        Ok(found)
    }
}

fn path_size(path: &Path) -> usize {
    size_of_val(&path[..])
}

fn frame_size(frame: &Arc<GeneratedFrame>) -> usize {
    let GeneratedFrame { release, function } = &**frame;
    size_of::<GeneratedFrame>() + release.len() + function.name.len() + function.file.len()
}
