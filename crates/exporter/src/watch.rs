//! Notices changes of a folder at once.

use std::mem::MaybeUninit;
use std::path::Path;
use std::thread;

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io;

/// Calls `changed` in a thread of its own after changes: a file was closed after writing, or renamed. Both happen when
/// a process ends or a part is complete. Without inotify, changes are noticed at the next look.
pub fn watch(folder: &Path, changed: impl Fn() -> bool + Send + 'static) -> io::Result<()> {
    let inotify = inotify::init(CreateFlags::CLOEXEC)?;
    inotify::add_watch(
        &inotify,
        folder,
        WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR,
    )?;
    let watch = move || {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(inotify, &mut buffer);
        loop {
            let result = reader.next().map(|_| ());
            match result {
                // One call for what came together.
                Ok(()) if !reader.is_buffer_empty() => {}
                Ok(()) if changed() => {}
                Err(io::Errno::INTR) => {}
                Ok(()) | Err(_) => break,
            }
        }
    };
    // Without a thread, changes are noticed at the next look, too.
    let _ = thread::Builder::new().name("selfprof-watch".to_owned()).spawn(watch);
    Ok(())
}
