//! Finding scripts and their source maps.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use percent_encoding::percent_decode_str;
use selfprof_source_maps::{Comments, Map, json_of_data_url};
use selfprof_trace::local_path;

use crate::failure::Failure;
use crate::terminal::messages::warn;
use crate::terminal::names::printable;

/// The longest script or source map that is read.
const MAX_BYTES: u64 = 1 << 26;

/// At most this many files are considered in the directories of `--source-maps`.
const MAX_FILES: usize = 100_000;

/// How many bytes and mappings the maps of a recording may have together, since all of them are kept.
const MAX_MAP_BYTES: usize = 1 << 29;
const MAX_MAPPINGS: usize = 1 << 25;

/// How many bytes of scripts are searched for names, since a recording may name many scripts, or one in many ways.
const MAX_CODE_BYTES: u64 = 1 << 30;

/// At most this many bad maps are named; the rest are counted.
const MAX_WARNINGS: usize = 5;

/// Finds source maps, and warns about those that cannot be used.
pub struct Finder {
    files: Files,
    /// The maps of local scripts, and those in files. A script and a map may have many names.
    by_script: HashMap<PathBuf, Option<Rc<Map>>>,
    by_file: HashMap<PathBuf, Option<Rc<Map>>>,
    /// What is left for further maps and scripts.
    map_bytes: usize,
    mappings: usize,
    code_bytes: Cell<u64>,
    /// The number of maps that cannot be used, or not wholly.
    bad: usize,
}

impl Finder {
    /// Lists the files in the directories.
    pub fn new(directories: &[PathBuf]) -> Result<Self, Failure> {
        Ok(Self {
            files: Files::in_directories(directories)?,
            by_script: HashMap::new(),
            by_file: HashMap::new(),
            map_bytes: MAX_MAP_BYTES,
            mappings: MAX_MAPPINGS,
            code_bytes: Cell::new(MAX_CODE_BYTES),
            bad: 0,
        })
    }

    /// Prints how many bad maps were not named.
    pub fn warn_about_rest(&self) {
        if self.bad > MAX_WARNINGS {
            warn(format_args!("ignored {} more bad source maps", self.bad - MAX_WARNINGS));
        }
    }

    /// The script with this URL, unless it has changed since a time.
    pub fn code(&self, url: &str, recorded: Option<SystemTime>) -> Option<String> {
        let path = self.path_of(url)?;
        let metadata = fs::metadata(&path).ok()?;
        let changed = metadata.modified().ok()?;
        self.code_bytes.set(self.code_bytes.get().checked_sub(metadata.len())?);
        if recorded.is_some_and(|recorded| changed > recorded) {
            return None;
        }
        read_text(&path)
    }

    fn path_of(&self, url: &str) -> Option<PathBuf> {
        local_file(url).or_else(|| self.files.named(file_name(url), url))
    }

    /// The map that a recording has of the script with this URL.
    pub fn recorded(&mut self, url: &str, json: &str) -> Option<Rc<Map>> {
        self.read(url, json.as_bytes())
    }

    /// The map of the script with this URL.
    pub fn find(&mut self, url: &str) -> Option<Rc<Map>> {
        let code_path = self.path_of(url);
        let Some(place) = code_path.as_deref().and_then(|path| fs::canonicalize(path).ok()) else {
            return self.find_for(url, code_path.as_deref());
        };
        if let Some(found) = self.by_script.get(&place) {
            return found.clone();
        }
        let found = self.find_for(url, code_path.as_deref());
        self.by_script.insert(place, found.clone());
        found
    }

    fn find_for(&mut self, url: &str, code_path: Option<&Path>) -> Option<Rc<Map>> {
        let name = file_name(url);
        let code = code_path.and_then(read_text);
        let comments = code.as_deref().map(Comments::of).unwrap_or_default();
        if let Some(data) = comments.mapping_url.filter(|url| url.starts_with("data:")) {
            return match json_of_data_url(data) {
                Ok(json) => self.read(url, &json),
                Err(error) => self.refuse(url, &error.to_string()),
            };
        }
        let linked = code_path.zip(comments.mapping_url).map(|(code, map)| linked(code, map));
        let of_url = comments.mapping_url.and_then(|map| self.files.named(file_name(map), url));
        let by_name = || self.files.named(&format!("{name}.map"), url);
        let by_id = || self.files.with_debug_id(comments.debug_id?);
        let path = linked.filter(|path| path.is_file()).or_else(by_id).or(of_url).or_else(by_name)?;
        let place = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if let Some(found) = self.by_file.get(&place) {
            return found.clone();
        }
        let name = path.display().to_string();
        let found = match read(&path) {
            Some(json) => self.read(&name, &json),
            None => {
                let reason = format!("the file cannot be read, or is longer than {} MiB", MAX_BYTES >> 20);
                self.refuse(&name, &reason)
            }
        };
        self.by_file.insert(place, found.clone());
        found
    }

    /// Reads a map. Warns if it, or a part of it, cannot be used.
    fn read(&mut self, name: &str, json: &[u8]) -> Option<Rc<Map>> {
        let Some(left) = self.map_bytes.checked_sub(json.len()) else {
            return self
                .refuse(name, &format!("all maps together have more than {} MiB", MAX_MAP_BYTES >> 20));
        };
        let map = match Map::read(json) {
            Ok(map) => map,
            Err(error) => return self.refuse(name, &error.to_string()),
        };
        let Some(mappings) = self.mappings.checked_sub(map.mappings()) else {
            return self.refuse(name, &format!("all maps together have more than {MAX_MAPPINGS} mappings"));
        };
        (self.map_bytes, self.mappings) = (left, mappings);
        if let [first, others @ ..] = map.problems() {
            let (name, problem) = (printable(name), first.to_string());
            let others = match others.len() {
                0 => String::new(),
                1 => ", and 1 more problem".to_owned(),
                count => format!(", and {count} more problems"),
            };
            self.warn(format_args!("ignored in the source map of {name}: {}{others}", printable(&problem)));
        }
        Some(Rc::new(map))
    }

    /// Warns that a map cannot be used.
    fn refuse(&mut self, name: &str, reason: &str) -> Option<Rc<Map>> {
        self.warn(format_args!("ignored the source map of {}: {}", printable(name), printable(reason)));
        None
    }

    /// Counts a bad map, and prints the first few.
    fn warn(&mut self, message: fmt::Arguments<'_>) {
        if self.bad < MAX_WARNINGS {
            warn(message);
        }
        self.bad += 1;
    }
}

/// The last part of a URL's path.
fn file_name(url: &str) -> &str {
    without_query(url).rsplit('/').next().unwrap_or_default()
}

/// The URL without its query and fragment.
fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// What a URL, or a part of one, means in paths: `%5Bslug%5D.js` is the file `[slug].js`.
fn decoded(url: &str) -> Cow<'_, str> {
    percent_decode_str(url).decode_utf8_lossy()
}

/// The local file with this URL or path.
pub fn local_file(url: &str) -> Option<PathBuf> {
    let path = local_path(without_query(url)).unwrap_or(url.into());
    Some(PathBuf::from(path.into_owned())).filter(|path| path.is_absolute() && path.is_file())
}

/// The path of the map that a script links to.
pub fn linked(code: &Path, map: &str) -> PathBuf {
    let folder = code.parent().unwrap_or(Path::new("."));
    let map = without_query(map);
    let path = folder.join(&*local_path(map).unwrap_or_else(|| decoded(map)));
    // Some tools write the name of the file as it is, even if it contains `%`.
    let as_written = folder.join(map);
    if !path.is_file() && as_written.is_file() { as_written } else { path }
}

/// The files in the directories of `--source-maps`, by name.
struct Files {
    by_name: HashMap<OsString, Vec<PathBuf>>,
}

impl Files {
    fn in_directories(directories: &[PathBuf]) -> Result<Self, Failure> {
        let mut files = Self { by_name: HashMap::new() };
        let mut left = MAX_FILES;
        for directory in directories {
            if !directory.is_dir() {
                return Err(Failure::usage(format!("no such directory: {}", directory.display()))
                    .hint("`--source-maps DIR` sets a directory to search for source maps"));
            }
            let mut folders = vec![directory.clone()];
            while let Some(folder) = folders.pop() {
                // A directory that cannot be read has no readable maps.
                for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                    // Symbolic links are not followed: they may form cycles.
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                        Ok(kind) if kind.is_file() && left > 0 => {
                            left -= 1;
                            files.by_name.entry(entry.file_name()).or_default().push(entry.path());
                        }
                        _ => {}
                    }
                }
            }
        }
        if left == 0 {
            warn(format_args!("only the first {MAX_FILES} files were searched for source maps"));
        }
        Ok(files)
    }

    /// The file with this name, which is a part of a URL. If there are several, the one whose directories best match
    /// the end of the URL.
    fn named(&self, name: &str, url: &str) -> Option<PathBuf> {
        let with_name = |name: &str| self.by_name.get(OsString::from(name).as_os_str());
        let paths = with_name(&decoded(name)).or_else(|| with_name(name))?;
        let parts: Vec<&str> = without_query(url).rsplit('/').skip(1).collect();
        let alike = |path: &&PathBuf| {
            let folders = path.parent().into_iter().flat_map(|folder| folder.iter().rev());
            let is_same = |folder: &OsStr, part: &str| {
                folder.to_str().is_some_and(|folder| folder == part || folder == decoded(part))
            };
            folders.zip(&parts).take_while(|(folder, part)| is_same(folder, part)).count()
        };
        paths.iter().max_by_key(alike).cloned()
    }

    /// The map with this debug ID.
    fn with_debug_id(&self, id: &str) -> Option<PathBuf> {
        let id = id.to_ascii_lowercase();
        let maps =
            self.by_name.values().flatten().filter(|path| path.extension().is_some_and(|end| end == "map"));
        let has_id = |path: &&PathBuf| {
            read(path).is_some_and(|json| {
                // Searching the text is faster than parsing the map.
                let text = String::from_utf8_lossy(&json).to_ascii_lowercase();
                text.contains(&id) && Map::read(&json).is_ok_and(|map| map.debug_id() == Some(&id))
            })
        };
        maps.filter(has_id).min().cloned()
    }
}

/// The content of a file as text.
pub fn read_text(path: &Path) -> Option<String> {
    read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The content of a regular file that is not too long. A trace may name any path: a device, or one of the files of
/// /proc that readers wait for. Those say that they have no bytes, and none is read of them.
pub fn read(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(metadata.len()).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_size_are_empty() {
        // Readers of /proc/kmsg, which only root may open, wait forever.
        for path in ["/proc/self/status", "/proc/kmsg"] {
            let path = Path::new(path);
            assert!(path.is_file());
            if File::open(path).is_ok() {
                assert_eq!(read(path).as_deref(), Some(&[][..]), "{}", path.display());
            }
        }
        assert_eq!(read(Path::new("/dev/zero")), None);
        assert!(read_text(Path::new("/etc/passwd")).is_some_and(|text| text.contains("root")));
    }
}
