//! The files that are copied, and where to.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use selfprof_instrument::Calls;

use crate::error::SiteError;
use crate::functions_table::TABLE;
use crate::options::Options;
use crate::runtime::RUNTIME;
use crate::summary::{LeftOut, Reason};

use super::selection::Selection;
use super::urls::url_of;

/// More files are not copied: the input is most likely not a built site.
const MAX_FILES: usize = 100_000;

/// The runtime has 30 bits for the number of a function.
const MAX_FUNCTION_IDS: u32 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Script,
    Page,
    /// Whatever is copied unchanged.
    Other,
}

/// A file that is copied.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where it is.
    pub source: PathBuf,
    /// Where it goes, from the output folder.
    pub place: PathBuf,
    pub kind: Kind,
    /// Whether the command line names the file itself, and not only a folder that it is in.
    pub is_named: bool,
    /// Whether `--include` and `--exclude` let its scripts be instrumented.
    pub is_selected: bool,
    /// The number of its first function in events of calls.
    pub first_id: u32,
}

impl Input {
    /// The place as a URL, relative to the output folder.
    pub fn url(&self) -> String {
        url_of(&self.place)
    }

    /// The place in messages.
    pub fn name(&self) -> String {
        self.place.display().to_string()
    }
}

/// All files.
#[derive(Debug, Default)]
pub struct Inputs {
    /// In the order of their places.
    pub files: Vec<Input>,
    /// What is not copied.
    pub left_out: Vec<LeftOut>,
    /// The output folder, without symbolic links.
    pub output: PathBuf,
    /// Where the output folder is in the only input, if it is there.
    pub output_within: Option<PathBuf>,
}

impl Inputs {
    /// Finds the files, and checks that none would be overwritten.
    pub fn find(options: &Options) -> Result<Self, SiteError> {
        let output = resolved(&options.output)?;
        if output.exists() && !output.is_dir() {
            return Err(SiteError::OutputIsNoFolder(options.output.clone()));
        }
        let selection = Selection::new(options)?;
        let mut walk = Walk { selection, inputs: Self { output, ..Self::default() } };
        let is_alone = options.inputs.len() == 1;
        for given in &options.inputs {
            walk.add(given, is_alone)?;
        }
        let mut inputs = walk.inputs;
        inputs.files.sort_by(|a, b| a.place.cmp(&b.place));
        inputs.check(options)?;
        Ok(inputs)
    }

    /// Gives each file as many numbers as it can have functions, so that files need not wait for each other.
    pub fn number_functions(&mut self) -> Result<(), SiteError> {
        let mut next = 0;
        for file in self.files.iter_mut().filter(|file| file.kind != Kind::Other) {
            let bytes = fs::metadata(&file.source).map_or(0, |metadata| metadata.len());
            file.first_id = next;
            next = u32::try_from(u64::from(next) + Calls::most_ids(bytes))
                .ok()
                .filter(|next| *next <= MAX_FUNCTION_IDS)
                .ok_or(SiteError::TooManyFunctions)?;
        }
        Ok(())
    }

    fn check(&self, options: &Options) -> Result<(), SiteError> {
        if let Some(pair) = self.files.windows(2).find(|pair| pair[0].place == pair[1].place) {
            return Err(SiteError::SamePlace(pair[0].source.clone(), pair[1].source.clone()));
        }
        if let Some(file) = self.files.iter().find(|file| self.output.join(&file.place) == file.source) {
            return Err(overwrites(&file.source, &self.output));
        }
        let is_ours = |file: &&Input| [TABLE, RUNTIME].iter().any(|name| file.place.ends_with(name));
        if let Some(file) = self.files.iter().find(is_ours) {
            let name = file.place.file_name().unwrap_or_default().display();
            let path = file.source.parent().unwrap_or(&file.source).to_owned();
            return Err(SiteError::AlreadyInstrumented { path, sign: Some(format!("it has {name}")) });
        }
        if self.files.iter().all(|file| file.kind == Kind::Other) {
            return Err(SiteError::NoScripts);
        }
        let is_empty = fs::read_dir(&self.output).map_or(true, |mut entries| entries.next().is_none());
        if !is_empty && !self.output.join(TABLE).is_file() {
            return Err(SiteError::OutputOfOthers(options.output.clone()));
        }
        Ok(())
    }
}

fn overwrites(source: &Path, output: &Path) -> SiteError {
    SiteError::Overwrites { source: source.to_owned(), output: output.to_owned() }
}

/// A path without symbolic links, of which the last parts need not exist.
fn resolved(path: &Path) -> Result<PathBuf, SiteError> {
    let failed = |error| SiteError::Open(path.to_owned(), error);
    let absolute = std::path::absolute(path).map_err(failed)?;
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut existing = absolute.as_path();
    let mut resolved = loop {
        match existing.canonicalize() {
            Ok(resolved) => break resolved,
            Err(error) => match (existing.components().next_back(), existing.parent()) {
                (Some(Component::Normal(name)), Some(parent)) => {
                    missing.push(name);
                    existing = parent;
                }
                _ => return Err(failed(error)),
            },
        }
    };
    resolved.extend(missing.into_iter().rev());
    Ok(resolved)
}

struct Walk {
    selection: Selection,
    inputs: Inputs,
}

impl Walk {
    /// Adds what was given on the command line, of which a symbolic link is followed.
    fn add(&mut self, given: &Path, is_alone: bool) -> Result<(), SiteError> {
        let source = given.canonicalize().map_err(|error| SiteError::Open(given.to_owned(), error))?;
        // `.` has the name of the folder that it is.
        let name = source.file_name().unwrap_or_default().to_owned();
        if source.is_dir() {
            if source.starts_with(&self.inputs.output) {
                return Err(overwrites(&source, &self.inputs.output));
            }
            let within = self.inputs.output.strip_prefix(&source).ok().map(Path::to_owned);
            self.inputs.output_within = within.filter(|_| is_alone);
            let place = if is_alone { PathBuf::new() } else { PathBuf::from(name) };
            return self.add_folder(&source, &place);
        }
        if !source.is_file() {
            return Err(SiteError::SpecialFile(given.to_owned()));
        }
        // It is taken for a script, whatever its name is.
        let kind = if kind_of(&source) == Kind::Page { Kind::Page } else { Kind::Script };
        let is_selected = self.selection.selects(Path::new(&name));
        self.push(Input { source, place: name.into(), kind, is_named: true, is_selected, first_id: 0 })
    }

    fn push(&mut self, input: Input) -> Result<(), SiteError> {
        if self.inputs.files.len() == MAX_FILES {
            return Err(SiteError::TooManyFiles(MAX_FILES));
        }
        self.inputs.files.push(input);
        Ok(())
    }

    fn add_folder(&mut self, root: &Path, place: &Path) -> Result<(), SiteError> {
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let path = root.join(&folder);
            // The copies of another run are no input either.
            if folder != Path::new("") && path.join(TABLE).is_file() {
                let left_out = LeftOut::new(place.join(folder).display(), Reason::EarlierOutput);
                self.inputs.left_out.push(left_out);
                continue;
            }
            let failed = |error| SiteError::Read(path.clone(), error);
            for entry in fs::read_dir(&path).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let within = folder.join(entry.file_name());
                let source = root.join(&within);
                let kind = entry.file_type().map_err(failed)?;
                if kind.is_dir() {
                    // The copies of an earlier run to the same folder are no input.
                    if source != self.inputs.output {
                        folders.push(within);
                    }
                } else if kind.is_file() || leads_to_file_within(&source, root) {
                    let (kind, is_selected) = (kind_of(&source), self.selection.selects(&within));
                    let place = place.join(within);
                    self.push(Input { source, place, kind, is_named: false, is_selected, first_id: 0 })?;
                } else {
                    let reason = if kind.is_symlink() { Reason::Link } else { Reason::SpecialFile };
                    self.inputs.left_out.push(LeftOut::new(place.join(within).display(), reason));
                }
            }
        }
        Ok(())
    }
}

/// Whether a symbolic link leads to a file of the same folder. Links to folders might form circles.
fn leads_to_file_within(link: &Path, root: &Path) -> bool {
    link.canonicalize().is_ok_and(|target| target.starts_with(root) && target.is_file())
}

fn kind_of(path: &Path) -> Kind {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "js" | "mjs" | "cjs" => Kind::Script,
        "html" | "htm" => Kind::Page,
        _ => Kind::Other,
    }
}
