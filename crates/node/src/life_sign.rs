//! How an exporter knows that this process lives: a locked file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use parking_lot::Mutex;

/// The file. The system unlocks it when the process ends, however it ends. Programs that this process starts do not
/// inherit it.
static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Creates the file with this content, and holds a lock on it until the process ends. Does nothing if there is one
/// already.
///
/// # Errors
/// When the file cannot be created, written or locked.
pub fn begin(path: &Path, content: &str) -> io::Result<()> {
    let mut held = FILE.lock();
    if held.is_none() {
        let mut file = OpenOptions::new().create_new(true).write(true).open(path)?;
        file.lock()?;
        file.write_all(content.as_bytes())?;
        *held = Some(file);
    }
    Ok(())
}

/// Unlocks the file: the process is about to end.
pub fn end() {
    FILE.lock().take();
}
