//! Writing files atomically: readers see the old content or the new one, never a part.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// Replaces the file with what `write` writes. If `write` fails, the file stays as it was.
pub fn write<E: From<io::Error>>(path: &Path, write: impl FnOnce(&File) -> Result<(), E>) -> Result<(), E> {
    if !is_replaceable(path) {
        return write(&File::options().write(true).open(path)?);
    }
    // A symbolic link stays one; its target is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let file = temporary_beside(&path)?;
    write(file.as_file())?;
    file.persist(&path).map_err(io::Error::from)?;
    Ok(())
}

/// Whether the path does not exist or is a regular file. A device or a pipe must be written to, not replaced.
pub fn is_replaceable(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// A temporary file in the same directory, so that it can be renamed to the path. It has the permissions of any new
/// file (0666 minus the umask) and is deleted when dropped.
pub fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    Builder::new()
        .prefix(".selfprof-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory_of(path))
}

/// The directory of a file.
pub fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_are_replaced_and_devices_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a.json"), directory.path().join("link.json"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let new = |path: &Path| write(path, |mut file| file.write_all(b"new"));
        new(&link).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        new(Path::new("/dev/null")).unwrap();
        assert!(!Path::new("/dev/null").is_file());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_failure_leaves_the_file_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.json");
        fs::write(&file, "old").unwrap();
        let result = write(&file, |mut file| {
            file.write_all(b"ne")?;
            Err(io::Error::other("no more"))
        });
        assert!(result.is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
