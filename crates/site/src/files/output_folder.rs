//! The folder that the copies are written to. Nothing is written outside of it.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::SiteError;

/// The folder.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
}

impl OutputFolder {
    /// Creates the folder, if it is not there.
    pub fn create(path: &Path) -> Result<Self, SiteError> {
        fs::create_dir_all(path).map_err(|error| SiteError::Write(path.to_owned(), error))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Where a place is.
    pub fn path_of(&self, place: &Path) -> PathBuf {
        self.path.join(place)
    }

    /// Writes a file, replacing an earlier one.
    pub fn write(&self, place: &Path, content: &[u8]) -> Result<(), SiteError> {
        self.replace(place, |file| file.write_all(content))
    }

    /// Copies a file.
    pub fn copy(&self, place: &Path, source: &Path) -> Result<(), SiteError> {
        self.replace(place, |file| io::copy(&mut File::open(source)?, file).map(drop))
    }

    /// Writes a file beside its place and renames it: a symbolic link there is replaced, not followed.
    pub fn replace(
        &self,
        place: &Path,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), SiteError> {
        let path = self.path_of(place);
        let replaced = || {
            self.create_folders_of(place)?;
            let mut file = new_file_beside(&path)?;
            write(file.as_file_mut())?;
            file.persist(&path)?;
            Ok(())
        };
        replaced().map_err(|error: io::Error| SiteError::Write(path.clone(), error))
    }

    /// Creates the folders around a place. One that is a symbolic link would lead out.
    fn create_folders_of(&self, place: &Path) -> io::Result<()> {
        let mut folder = self.path.clone();
        let parts = place.parent().into_iter().flat_map(Path::components);
        for part in parts {
            let Component::Normal(name) = part else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is outside of the folder"));
            };
            folder.push(name);
            match fs::symlink_metadata(&folder) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => {
                    let reason = format!("{} is not a folder", folder.display());
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, reason));
                }
                Err(_) => match fs::create_dir(&folder) {
                    // Another thread was faster.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    _ => {}
                },
            }
        }
        Ok(())
    }
}

/// A file that is deleted unless it is renamed, with the permissions of any new file: 0666 minus the umask.
fn new_file_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(path);
    Builder::new()
        .prefix(".selfprof-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_outside() {
        let directory = tempfile::tempdir().unwrap();
        let outside = directory.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "old").unwrap();
        let output = OutputFolder::create(&directory.path().join("out/new")).unwrap();
        std::os::unix::fs::symlink(&outside, output.path_of(Path::new("folder"))).unwrap();
        std::os::unix::fs::symlink(outside.join("file"), output.path_of(Path::new("link"))).unwrap();
        assert!(output.write(Path::new("folder/file"), b"new").is_err());
        assert!(output.write(Path::new("../file"), b"new").is_err());
        output.write(Path::new("link"), b"new").unwrap();
        output.write(Path::new("a/b/c"), b"new").unwrap();
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "old");
        for place in ["link", "a/b/c"] {
            assert_eq!(fs::read_to_string(output.path_of(Path::new(place))).unwrap(), "new");
        }
    }
}
