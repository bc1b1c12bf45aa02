//! Finding the source maps of a trace's scripts, and telling what they did.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use selfprof_formats::Thread;
use selfprof_source_maps::{Comments, Counts, Excerpt, Map, apply_with_excerpts};
use selfprof_trace::{FrameId, Trace};

use crate::arguments::SourceMapArguments;
use crate::failure::Failure;
use crate::location::{local_path, printable};
use crate::talk::{say, warn};

/// The longest script or map that is read, which is also the longest that a map may be.
const MOST_BYTES: u64 = 1 << 26;

/// How many files are looked at in the directories of maps.
const MOST_FILES: usize = 100_000;

/// How many functions of a thread get lines of their sources.
const MOST_SNIPPETS: usize = 20_000;

/// The lines shown before a function's first, and behind it.
const LINES_BEFORE: u32 = 2;
const LINES_AFTER: u32 = 9;

/// As many characters of a line are kept.
const LONGEST_LINE: usize = 200;

/// How many bad maps are told one by one.
const TOLD_MAPS: usize = 5;

/// Lines of a source.
#[derive(Clone, Debug)]
pub struct Snippet {
    /// The number of the first, counted from 1.
    pub first: u32,
    /// Long ones are cut.
    pub lines: Vec<String>,
}

/// The lines where functions begin, as far as maps hold them.
pub type Snippets = HashMap<FrameId, Snippet>;

/// Gives the functions of all threads their original places and names, as far as there are maps, and tells how many.
pub fn place(threads: Vec<Thread>, arguments: &SourceMapArguments) -> Result<Vec<Thread>, Failure> {
    Ok(place_with_snippets(threads, arguments)?.into_iter().map(|(thread, _)| thread).collect())
}

/// The trace with the original places of its functions, when there were maps to look for.
pub fn placed(trace: &Trace, arguments: &SourceMapArguments) -> Option<Trace> {
    let threads = vec![Thread::main(trace.clone())];
    place(threads, arguments).ok()?.pop().map(|thread| thread.trace)
}

/// As [`place`], with the sources' lines.
pub fn place_with_snippets(
    threads: Vec<Thread>,
    arguments: &SourceMapArguments,
) -> Result<Vec<(Thread, Snippets)>, Failure> {
    let without =
        |threads: Vec<Thread>| threads.into_iter().map(|thread| (thread, Snippets::new())).collect();
    if arguments.no_source_maps {
        return Ok(without(threads));
    }
    let mut finder = Finder { files: Files::in_directories(&arguments.directories)?, bad: 0 };
    let mut maps: HashMap<String, Option<Map>> = HashMap::new();
    for (_, url) in threads.iter().flat_map(|thread| thread.trace.resources().iter()) {
        if !maps.contains_key(url) {
            maps.insert(url.to_owned(), finder.find(url));
        }
    }
    let found = maps.values().flatten().count();
    if finder.bad > TOLD_MAPS {
        warn(format_args!("and {} more source maps, or their scopes, are of no use", finder.bad - TOLD_MAPS));
    }
    if found == 0 {
        if !arguments.directories.is_empty() {
            say(format_args!("source maps: none found for {} scripts", maps.len()));
        }
        return Ok(without(threads));
    }
    let mut sum = Counts::default();
    let mut placed = Vec::with_capacity(threads.len());
    for Thread { name, trace } in threads {
        let mut snippets = Snippets::new();
        let note = |frame, excerpt: Excerpt<'_>| {
            if snippets.len() < MOST_SNIPPETS {
                let (first, lines) = excerpt.lines(LINES_BEFORE, LINES_AFTER);
                let lines = lines.into_iter().map(|line| line.chars().take(LONGEST_LINE).collect()).collect();
                snippets.insert(frame, Snippet { first, lines });
            }
        };
        let (trace, counts) = apply_with_excerpts(&trace, |url| maps.get(url)?.as_ref(), note)
            .map_err(|error| Failure::job("cannot apply the source maps").because(&error))?;
        sum.placed += counts.placed;
        sum.with_map += counts.with_map;
        sum.mapped += counts.mapped;
        sum.hidden += counts.hidden;
        placed.push((Thread { name, trace }, snippets));
    }
    let maps = if found == 1 { "1 map".to_owned() } else { format!("{found} maps") };
    let unknown = sum.with_map - sum.mapped - sum.hidden;
    let without = sum.placed - sum.with_map;
    let hidden = match sum.hidden {
        0 => String::new(),
        hidden => format!(", {hidden} that they hide left out"),
    };
    say(format_args!(
        "source maps: {} functions placed by {maps}{hidden}, {unknown} unknown to them, {without} of scripts without one",
        sum.mapped
    ));
    Ok(placed)
}

/// Finds maps.
struct Finder {
    files: Files,
    /// How many maps were there that are of no use, or their scopes.
    bad: usize,
}

impl Finder {
    /// The map of the script with this URL.
    fn find(&mut self, url: &str) -> Option<Map> {
        let local = local_path(url)
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(url)).filter(|path| path.is_absolute()));
        let name = url.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let code_path = local.filter(|path| path.is_file()).or_else(|| self.files.named(name, url));
        let code =
            code_path.as_deref().and_then(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let comments = code.as_deref().map(Comments::of).unwrap_or_default();
        if let Some(data) = comments.mapping_url.filter(|url| url.starts_with("data:")) {
            return self.usable(url, Map::from_data_url(data).map_err(|error| error.to_string()));
        }
        let beside = code_path.as_deref().zip(comments.mapping_url).map(|(code, map)| beside(code, map));
        let of_url = comments.mapping_url.and_then(|map| self.files.named(map.rsplit('/').next()?, url));
        let by_name = || self.files.named(&format!("{name}.map"), url);
        let by_id = || self.files.with_debug_id(comments.debug_id?);
        let path = beside.filter(|path| path.is_file()).or_else(by_id).or(of_url).or_else(by_name)?;
        let map = match read(&path) {
            Some(json) => Map::read(&json).map_err(|error| error.to_string()),
            None => Err(format!("it cannot be read, or is longer than {} MiB", MOST_BYTES >> 20)),
        };
        self.usable(&path.display().to_string(), map)
    }

    /// Tells of a map that is of no use, or whose scopes are of none.
    fn usable(&mut self, name: &str, map: Result<Map, String>) -> Option<Map> {
        let name = printable(name);
        match &map {
            Ok(map) => {
                if let Some(error) = map.bad_scopes() {
                    let reason = error.to_string();
                    self.tell(format_args!(
                        "the scopes in the source map of {name} are of no use: {}",
                        printable(&reason)
                    ));
                }
            }
            Err(reason) => {
                self.tell(format_args!("the source map of {name} is of no use: {}", printable(reason)));
            }
        }
        map.ok()
    }

    /// Tells of the first of them.
    fn tell(&mut self, what: fmt::Arguments<'_>) {
        if self.bad < TOLD_MAPS {
            warn(what);
        }
        self.bad += 1;
    }
}

/// The path of a map that a script names.
fn beside(code: &Path, map: &str) -> PathBuf {
    let map = local_path(map).unwrap_or_else(|| map.split(['?', '#']).next().unwrap_or_default().to_owned());
    code.parent().unwrap_or(Path::new(".")).join(map)
}

/// The files of the directories that were named, by their names.
struct Files {
    by_name: HashMap<OsString, Vec<PathBuf>>,
}

impl Files {
    fn in_directories(directories: &[PathBuf]) -> Result<Self, Failure> {
        let mut files = Self { by_name: HashMap::new() };
        let mut left = MOST_FILES;
        for directory in directories {
            if !directory.is_dir() {
                return Err(Failure::usage(format!("there is no directory {}", directory.display()))
                    .hint("`--source-maps DIR` says where source maps are"));
            }
            let mut folders = vec![directory.clone()];
            while let Some(folder) = folders.pop() {
                // What cannot be read holds no map that can.
                for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                    // Links are not followed, since they may lead round in circles.
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
            warn(format_args!("only {MOST_FILES} files were looked at for source maps"));
        }
        Ok(files)
    }

    /// The file of this name; of several, the one whose path ends most like the URL.
    fn named(&self, name: &str, url: &str) -> Option<PathBuf> {
        let paths = self.by_name.get(OsString::from(name).as_os_str())?;
        let alike = |path: &&PathBuf| {
            let folders = path.parent().into_iter().flat_map(|folder| folder.iter().rev());
            let parts = url.rsplit('/').skip(1);
            folders.zip(parts).take_while(|(folder, part)| folder.to_str() == Some(part)).count()
        };
        paths.iter().max_by_key(alike).cloned()
    }

    /// The map with this debug id.
    fn with_debug_id(&self, id: &str) -> Option<PathBuf> {
        let id = id.to_ascii_lowercase();
        let maps =
            self.by_name.values().flatten().filter(|path| path.extension().is_some_and(|end| end == "map"));
        let has_id = |path: &&PathBuf| {
            read(path).is_some_and(|json| {
                // Reading a map takes longer than looking whether it has the id at all.
                let text = String::from_utf8_lossy(&json).to_ascii_lowercase();
                text.contains(&id) && Map::read(&json).is_ok_and(|map| map.debug_id() == Some(&id))
            })
        };
        maps.filter(has_id).min().cloned()
    }
}

/// The content of a plain file that is not too long. A trace may name anything, devices too.
fn read(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
