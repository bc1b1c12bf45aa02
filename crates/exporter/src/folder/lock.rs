//! Locks on files, which end with the process that holds them.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// An exclusive lock on a file (`flock`), held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Locks a file, which is created if it is not there. `None` if another process holds the lock.
    pub fn try_create(path: &Path) -> io::Result<Option<Self>> {
        // What is written in it does not matter.
        Self::try_file(File::options().create(true).append(true).open(path)?, path)
    }

    /// Locks a file that is there. `None` if another process holds the lock.
    pub fn try_existing(path: &Path) -> io::Result<Option<Self>> {
        Self::try_file(File::open(path)?, path)
    }

    fn try_file(file: File, path: &Path) -> io::Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The one who held it may have deleted the file.
        let same = std::fs::metadata(path).is_ok_and(|now| {
            file.metadata().is_ok_and(|locked| (locked.dev(), locked.ino()) == (now.dev(), now.ino()))
        });
        Ok(same.then_some(Self { _file: file }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let lock = Lock::try_create(&path).unwrap();
        assert!(lock.is_some());
        assert!(Lock::try_create(&path).unwrap().is_none());
        drop(lock);
        assert!(Lock::try_existing(&path).unwrap().is_some());
        assert!(Lock::try_existing(&folder.path().join("b")).is_err());
    }
}
