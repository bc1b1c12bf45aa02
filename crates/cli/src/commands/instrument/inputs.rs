//! The files that are copied, and where to.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use selfprof_instrument::Calls;

use crate::arguments::InstrumentArguments;
use crate::failure::Failure;

use super::summary::{LeftOut, Reason};

/// The table of functions, beside the copies.
pub const TABLE: &str = "selfprof-functions.json";

/// The runtime, beside the copies.
pub const RUNTIME: &str = "selfprof-polyfill.js";

/// More files are not copied: the input is most likely not a built site.
const MAX_FILES: usize = 100_000;

/// The runtime has 30 bits for the number of a function.
const MAX_FUNCTION_IDS: u32 = 1 << 30;

/// What is encoded in the paths of URLs: the [path percent-encode set](https://url.spec.whatwg.org/#path-percent-encode-set), and `%`.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'%');

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Script,
    Page,
    /// Whatever is copied as it is.
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

/// A relative path as a URL.
pub fn url_of(path: &Path) -> String {
    percent_encode(path.as_os_str().as_bytes(), PATH).to_string()
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
    pub fn find(arguments: &InstrumentArguments) -> Result<Self, Failure> {
        let output = resolved(&arguments.output)?;
        if output.exists() && !output.is_dir() {
            return Err(Failure::usage(format!("{} is not a folder", arguments.output.display()))
                .hint("`-o DIR` sets the folder for the copies"));
        }
        let selection = Selection::new(arguments)?;
        let mut walk = Walk { selection, inputs: Self { output, ..Self::default() } };
        let is_alone = arguments.inputs.len() == 1;
        for given in &arguments.inputs {
            walk.add(given, is_alone)?;
        }
        let mut inputs = walk.inputs;
        inputs.files.sort_by(|a, b| a.place.cmp(&b.place));
        inputs.check(arguments)?;
        Ok(inputs)
    }

    /// Gives each file as many numbers as it can have functions, so that files need not wait for each other.
    pub fn number_functions(&mut self) -> Result<(), Failure> {
        let mut next = 0;
        for file in self.files.iter_mut().filter(|file| file.kind != Kind::Other) {
            let bytes = fs::metadata(&file.source).map_or(0, |metadata| metadata.len());
            file.first_id = next;
            next = u32::try_from(u64::from(next) + Calls::most_ids(bytes))
                .ok()
                .filter(|next| *next <= MAX_FUNCTION_IDS)
                .ok_or_else(|| {
                    Failure::usage("the input is too large to be traced")
                        .hint("give fewer files, or choose scripts with `--include`")
                })?;
        }
        Ok(())
    }

    fn check(&self, arguments: &InstrumentArguments) -> Result<(), Failure> {
        if let Some(pair) = self.files.windows(2).find(|pair| pair[0].place == pair[1].place) {
            let [one, other] = [&pair[0], &pair[1]].map(|file| file.source.display().to_string());
            return Err(Failure::usage(format!("{one} and {other} would be written to one file"))
                .hint("instrument them one after the other, each with its own `-o DIR`"));
        }
        if let Some(file) = self.files.iter().find(|file| self.output.join(&file.place) == file.source) {
            return Err(overwrites(&file.source, &self.output));
        }
        let is_ours = |file: &&Input| [TABLE, RUNTIME].iter().any(|name| file.place.ends_with(name));
        if let Some(file) = self.files.iter().find(is_ours) {
            let (folder, name) = (file.source.parent().unwrap_or(&file.source), file.place.file_name());
            let name = name.unwrap_or_default().display();
            let what = format!("{} is already instrumented: it has {name}", folder.display());
            return Err(Failure::usage(what).hint("give the plain files, as the build writes them"));
        }
        if self.files.iter().all(|file| file.kind == Kind::Other) {
            return Err(Failure::usage("there are no scripts and no HTML pages in the input")
                .hint("scripts are .js, .mjs and .cjs files; TypeScript must be compiled first"));
        }
        let is_empty = fs::read_dir(&self.output).map_or(true, |mut entries| entries.next().is_none());
        if !is_empty && !self.output.join(TABLE).is_file() {
            let output = arguments.output.display();
            return Err(Failure::usage(format!(
                "{output} has files that `selfprof instrument` did not write"
            ))
            .hint("`-o DIR` must be a new or empty folder, or one that an earlier run has written"));
        }
        Ok(())
    }
}

fn overwrites(source: &Path, output: &Path) -> Failure {
    Failure::usage(format!("the copies in {} would overwrite {}", output.display(), source.display()))
        .hint("`-o DIR` must be another folder; it may be a new one inside the input")
}

/// A path without symbolic links, of which the last parts need not exist.
fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    let failed =
        |error: &std::io::Error| Failure::usage(format!("cannot find {}", path.display())).because(error);
    let absolute = std::path::absolute(path).map_err(|error| failed(&error))?;
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
                _ => return Err(failed(&error)),
            },
        }
    };
    resolved.extend(missing.into_iter().rev());
    Ok(resolved)
}

/// What `--include` and `--exclude` say.
struct Selection {
    included: Option<GlobSet>,
    excluded: GlobSet,
}

impl Selection {
    fn new(arguments: &InstrumentArguments) -> Result<Self, Failure> {
        let included = Some(&arguments.include).filter(|patterns| !patterns.is_empty());
        Ok(Self {
            included: included.map(|patterns| globs(patterns, "--include")).transpose()?,
            excluded: globs(&arguments.exclude, "--exclude")?,
        })
    }

    fn selects(&self, path: &Path) -> bool {
        self.included.as_ref().is_none_or(|included| included.is_match(path)) && !self.excluded.is_match(path)
    }
}

fn globs(patterns: &[String], option: &str) -> Result<GlobSet, Failure> {
    let mut set = GlobSetBuilder::new();
    let failed = |error: &globset::Error| {
        Failure::usage(format!("{option} has a bad pattern"))
            .because(error)
            .hint("for example: `assets/*.js`")
    };
    for pattern in patterns {
        let from_input = pattern.trim_start_matches("./").trim_start_matches('/');
        let anywhere = if pattern.contains('/') { from_input.to_owned() } else { format!("**/{pattern}") };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        set.add(glob.map_err(|error| failed(&error))?);
    }
    set.build().map_err(|error| failed(&error))
}

struct Walk {
    selection: Selection,
    inputs: Inputs,
}

impl Walk {
    /// Adds what was given on the command line, of which a symbolic link is followed.
    fn add(&mut self, given: &Path, is_alone: bool) -> Result<(), Failure> {
        let source = given
            .canonicalize()
            .map_err(|error| Failure::usage(format!("cannot open {}", given.display())).because(&error))?;
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
            return Err(Failure::usage(format!("{} is neither a file nor a folder", given.display())));
        }
        // It is taken for a script, whatever its name is.
        let kind = if kind_of(&source) == Kind::Page { Kind::Page } else { Kind::Script };
        let is_selected = self.selection.selects(Path::new(&name));
        self.push(Input { source, place: name.into(), kind, is_named: true, is_selected, first_id: 0 })
    }

    fn push(&mut self, input: Input) -> Result<(), Failure> {
        if self.inputs.files.len() == MAX_FILES {
            return Err(Failure::usage(format!("the input has more than {MAX_FILES} files"))
                .hint("give the folder that the build writes, not that of the project"));
        }
        self.inputs.files.push(input);
        Ok(())
    }

    fn add_folder(&mut self, root: &Path, place: &Path) -> Result<(), Failure> {
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let path = root.join(&folder);
            // The copies of another run are no input either.
            if folder != Path::new("") && path.join(TABLE).is_file() {
                let left_out = LeftOut::new(place.join(folder).display(), Reason::EarlierOutput);
                self.inputs.left_out.push(left_out);
                continue;
            }
            let failed = |error: &std::io::Error| {
                Failure::job(format!("cannot read {}", path.display())).because(error)
            };
            for entry in fs::read_dir(&path).map_err(|error| failed(&error))? {
                let entry = entry.map_err(|error| failed(&error))?;
                let within = folder.join(entry.file_name());
                let source = root.join(&within);
                let kind = entry.file_type().map_err(|error| failed(&error))?;
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

/// The places of the inputs, to find what URLs in pages lead to.
#[derive(Debug)]
pub struct Places<'a>(HashMap<&'a str, usize>);

/// What a URL in a page leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The index of the input.
    pub index: usize,
    /// What comes before its place in the URL: `/`, `../` or nothing, for example.
    pub base: String,
}

/// Where a URL leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    Input(Target),
    /// To a file of the same site that is no input.
    Missing,
    /// To another site, or to no file.
    Elsewhere,
}

impl<'a> Places<'a> {
    pub fn of(files: &'a [Input]) -> Self {
        Self(
            files
                .iter()
                .enumerate()
                .filter_map(|(index, file)| Some((file.place.to_str()?, index)))
                .collect(),
        )
    }

    /// Resolves a URL in the page at a place, with the URL in its `<base>`.
    ///
    /// The inputs may lie deeper in the site: `/shop/assets/app.js` is `assets/app.js` of the inputs, if there is nothing else.
    pub fn resolve(&self, url: &str, page: &Path, base: Option<&str>) -> Resolved {
        let base = base.map(str::trim);
        let url = url.trim();
        let end = url.find(['?', '#']).unwrap_or(url.len());
        let is_relative = !url.starts_with('/');
        if has_host(url) || end == 0 || is_relative && base.is_some_and(has_host) {
            return Resolved::Elsewhere;
        }
        let base =
            base.filter(|_| is_relative).map(|base| &base[..base.find(['?', '#']).unwrap_or(base.len())]);
        let folder = base.map_or("", |base| base.rsplit_once('/').map_or("", |(folder, _)| folder));
        let path = match base {
            Some(base) if base.contains('/') => format!("{folder}/{}", &url[..end]),
            _ => url[..end].to_owned(),
        };
        if path.starts_with('/') {
            return self.resolve_absolute(&path);
        }
        let depth = page.parent().map_or(0, |folder| folder.components().count());
        let folder = page.parent().and_then(Path::to_str).unwrap_or_default();
        let Some(place) = normalized(&format!("{folder}/{path}")) else { return Resolved::Missing };
        match self.0.get(place.as_str()) {
            // From another base the page is not where it seems.
            Some(&index) => Resolved::Input(Target { index, base: "../".repeat(depth) }),
            None => Resolved::Missing,
        }
    }

    fn resolve_absolute(&self, path: &str) -> Resolved {
        let Some(place) = normalized(path) else { return Resolved::Missing };
        let mut starts = std::iter::once(0).chain(place.match_indices('/').map(|(at, _)| at + 1)).take(32);
        let found = starts.find_map(|start| Some((start, *self.0.get(&place[start..])?)));
        match found {
            Some((start, index)) => {
                let base = format!("/{}", url_of(Path::new(&place[..start])));
                Resolved::Input(Target { index, base })
            }
            None => Resolved::Missing,
        }
    }
}

/// Whether a URL has a scheme or a host.
fn has_host(url: &str) -> bool {
    let scheme = url.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
    url.starts_with("//") || url.starts_with('\\') || scheme.is_some_and(|end| url[end..].starts_with(':'))
}

/// The path of a URL, without `.` and `..`, decoded; `None` if it leads out.
fn normalized(path: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    let mut parts: Vec<&str> = Vec::new();
    for part in decoded.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lead_to_inputs() {
        let places = ["a b.js", "assets/app.js", "deep/page/x.js", "é.js"];
        let files: Vec<Input> = places
            .iter()
            .map(|place| Input {
                source: PathBuf::from(place),
                place: PathBuf::from(place),
                kind: Kind::Script,
                is_named: false,
                is_selected: true,
                first_id: 0,
            })
            .collect();
        let places = Places::of(&files);
        #[track_caller]
        fn check(
            places: &Places<'_>,
            page: &str,
            base: Option<&str>,
            url: &str,
            expected: Option<(usize, &str)>,
        ) {
            let found = match places.resolve(url, Path::new(page), base) {
                Resolved::Input(Target { index, base }) => Some((index, base)),
                _ => None,
            };
            assert_eq!(found, expected.map(|(index, base)| (index, base.to_owned())), "{url}");
        }
        check(&places, "index.html", None, "assets/app.js", Some((1, "")));
        check(&places, "index.html", None, " ./assets/app.js?v=1#x\n", Some((1, "")));
        check(&places, "index.html", None, "/assets/app.js", Some((1, "/")));
        check(&places, "index.html", None, "/my%20shop/assets/app.js", Some((1, "/my%20shop/")));
        check(&places, "index.html", None, "a%20b.js", Some((0, "")));
        check(&places, "index.html", None, "%C3%A9.js", Some((3, "")));
        check(&places, "deep/page/index.html", None, "x.js", Some((2, "../../")));
        check(&places, "deep/page/index.html", None, "../../assets/app.js", Some((1, "../../")));
        check(&places, "deep/page/index.html", Some("/assets/"), "app.js", Some((1, "/")));
        check(&places, "deep/page/index.html", Some("../../"), "assets/app.js", Some((1, "../../")));
        check(&places, "index.html", Some("https://cdn.test/"), "assets/app.js", None);
        for url in [
            "https://cdn.test/assets/app.js",
            "//cdn.test/assets/app.js",
            "data:text/javascript,1",
            "",
            "?x",
            "../../a b.js",
            "%FF.js",
            "b.js",
        ] {
            check(&places, "index.html", None, url, None);
        }
    }

    #[test]
    fn paths_are_encoded_as_in_urls() {
        assert_eq!(url_of(Path::new("a b/é#?%.js")), "a%20b/%C3%A9%23%3F%25.js");
    }
}
