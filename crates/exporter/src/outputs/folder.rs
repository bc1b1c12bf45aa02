//! Profiles in a folder: a file for each process and period.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use selfprof_formats::w3c;
use selfprof_formats::{Thread, WriteOptions};

use super::{Output, Receipt, SendError};
use crate::batch::{Batch, Contents, FindMaps};
use crate::calendar::compact_time;
use crate::folder::names::{self, Part};
use crate::settings::Settings;

/// The end of the names of profiles.
const EXTENSION: &str = ".selfprof.json.gz";

/// The beginning of the names of files that are being written.
const TEMPORARY: &str = ".selfprof-";

/// After this time, nobody writes such a file any more.
const TEMPORARY_AGE: Duration = Duration::from_secs(60 * 60);

/// A folder of profiles.
pub struct ProfileFolder {
    path: PathBuf,
    settings: Arc<Settings>,
    find_maps: Arc<FindMaps>,
}

impl ProfileFolder {
    /// The folder that the settings name.
    pub fn new(settings: &Arc<Settings>, find_maps: &Arc<FindMaps>) -> Self {
        let path = PathBuf::from(&settings.output);
        Self { path, settings: Arc::clone(settings), find_maps: Arc::clone(find_maps) }
    }

    fn write(&self, batch: &Batch, parts: &[Part], thread: &str) -> Result<Contents, SendError> {
        let contents = Contents::read(batch, parts, Some(&*self.find_maps))?;
        if let (Some(part), false) = (parts.first(), contents.threads.is_empty()) {
            let name = self.name(part, thread);
            let write = || {
                fs::create_dir_all(&self.path)?;
                write_whole(&self.path, &name, &contents.threads)?;
                self.delete_oldest()
            };
            write().map_err(|error| SendError::later(format_args!("cannot write {name}: {error}")))?;
        }
        Ok(contents)
    }

    /// The name says the period, so that the oldest come first, and a part that is sent again replaces itself.
    fn name(&self, part: &Part, thread: &str) -> String {
        let time = compact_time(self.settings.start_of(part.number));
        let plain = |text: &str| -> String {
            let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
            text.chars().map(|character| if is_plain(character) { character } else { '-' }).take(64).collect()
        };
        format!("{time}.{}.{}{thread}{EXTENSION}", plain(&self.settings.app), plain(&part.process))
    }

    /// Keeps within the bounds of the settings, but always the newest.
    fn delete_oldest(&self) -> io::Result<()> {
        let mut profiles = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) else {
                continue;
            };
            if is_profile(&name) && metadata.is_file() {
                profiles.push((name, metadata.len()));
            } else if name.starts_with(TEMPORARY) && is_old(metadata.modified().ok()) {
                let _ = fs::remove_file(entry.path());
            }
        }
        profiles.sort();
        let (mut files, mut bytes) = (0_u64, 0_u64);
        for (name, length) in profiles.iter().rev() {
            files += 1;
            bytes = bytes.saturating_add(*length);
            let too_many = self.settings.folder_max_files.is_some_and(|most| files > most);
            if files > 1 && (too_many || bytes > self.settings.folder_max_bytes) {
                match fs::remove_file(self.path.join(name)) {
                    // Another exporter may keep the same folder.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Output for ProfileFolder {
    fn send(&mut self, batch: &Batch) -> Result<Receipt, SendError> {
        let mut receipt = Receipt::default();
        let has_main = batch.parts.first().is_some_and(|part| part.thread == names::Thread::Main);
        if has_main {
            receipt.corrupt = self.write(batch, &batch.parts, "")?.corrupt;
        } else {
            // They came late, and the file of their process is written. Alone, each has a name that does not depend on
            // the others.
            for part in &batch.parts {
                let thread = format!(".{}", part.thread);
                receipt.corrupt.extend(self.write(batch, std::slice::from_ref(part), &thread)?.corrupt);
            }
        }
        Ok(receipt)
    }
}

/// Writes a file that appears whole.
fn write_whole(folder: &Path, name: &str, threads: &[Thread]) -> io::Result<()> {
    let file = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .suffix(".tmp")
        // As any new file; the umask decides who may read it.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    w3c::write_threads(threads, file.as_file(), WriteOptions { gzip: true })?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    Ok(())
}

/// Whether an exporter has written this file: its name begins with a time such as `20261123T134500Z.`.
fn is_profile(name: &str) -> bool {
    let is_time = |time: &str| {
        let pattern = |(index, byte): (usize, u8)| match index {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        };
        time.len() == 16 && time.bytes().enumerate().all(pattern)
    };
    name.ends_with(EXTENSION) && name.split_once('.').is_some_and(|(time, _)| is_time(time))
}

fn is_old(modified: Option<SystemTime>) -> bool {
    modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > TEMPORARY_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_files_are_profiles() {
        assert!(is_profile("20261123T134500Z.shop.7.a.selfprof.json.gz"));
        assert!(!is_profile("20261123.shop.selfprof.json.gz"));
        assert!(!is_profile("my.selfprof.json.gz"));
        assert!(!is_profile("20261123T134500Z.shop.7.a.json"));
    }
}
