//! The files of a log.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use super::record;

/// The first bytes of a segment.
pub(super) const MAGIC: &[u8] = b"selfprof-log 1\n";

/// A sealed segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number: segments are written to the tables in this order.
    pub number: u64,
    path: PathBuf,
    /// By which the log knows whether anybody still works on it.
    in_use: Arc<()>,
}

impl Segment {
    pub(super) fn new(folder: &Path, number: u64) -> Self {
        Self { number, path: folder.join(format!("{number:012}.log")), in_use: Arc::default() }
    }

    /// Is upgraded as long as anybody has the segment.
    pub(super) fn use_of(&self) -> Weak<()> {
        Arc::downgrade(&self.in_use)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its records, without one at the end that was not written completely.
    pub fn records(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut file = BufReader::with_capacity(1 << 20, File::open(&self.path)?);
        let mut magic = Vec::new();
        (&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        if magic != MAGIC {
            // The process ended before it had written a record.
            return if MAGIC.starts_with(&magic) {
                Ok(Vec::new())
            } else {
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("{} is not a segment of a log", self.path.display()),
                ))
            };
        }
        std::iter::from_fn(|| record::next(&mut file).transpose()).collect()
    }

    /// Deletes it, because the tables have its records.
    pub fn delete(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// The segments in a folder, in order.
pub(super) fn list(folder: &Path) -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".log")?.parse().ok());
        segments.extend(number.map(|number| Segment { number, path, in_use: Arc::default() }));
    }
    segments.sort_unstable_by_key(|segment| segment.number);
    Ok(segments)
}
