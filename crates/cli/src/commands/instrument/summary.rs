//! What was instrumented, what was left out and why.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::io::{self, Write};

use selfprof_instrument::Position;
use serde_json::{Value, json};

use crate::terminal::color::Colors;
use crate::terminal::names::{printable, quoted};

/// At most this many names are printed for a reason; the rest are counted.
const MAX_PRINTED: usize = 5;

/// The same in JSON.
const MAX_LISTED: usize = 1000;

/// The longest name or explanation that is printed, in characters.
const MAX_CHARACTERS: usize = 160;

/// Why something is not instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    NotSelected,
    AlreadyInstrumented,
    Syntax,
    TooDeep,
    TooLarge,
    Encoding,
    OtherProblem,
    Untraceable,
    NoModules,
    Template,
    Foreign,
    PolicyWithHashes,
    EventHandler,
    Missing,
    SourceMap,
    BadSourceMap,
    Compressed,
    EarlierOutput,
    Link,
    SpecialFile,
}

impl Reason {
    /// As a key in JSON.
    fn key(self) -> &'static str {
        match self {
            Self::NotSelected => "not-selected",
            Self::AlreadyInstrumented => "already-instrumented",
            Self::Syntax => "syntax",
            Self::TooDeep => "too-deep",
            Self::TooLarge => "too-large",
            Self::Encoding => "encoding",
            Self::OtherProblem => "other",
            Self::Untraceable => "untraceable",
            Self::NoModules => "nomodule",
            Self::Template => "template",
            Self::Foreign => "foreign",
            Self::PolicyWithHashes => "policy-with-hashes",
            Self::EventHandler => "event-handler",
            Self::Missing => "missing",
            Self::SourceMap => "source-map",
            Self::BadSourceMap => "bad-source-map",
            Self::Compressed => "compressed",
            Self::EarlierOutput => "earlier-output",
            Self::Link => "link",
            Self::SpecialFile => "special-file",
        }
    }

    /// What happened to one thing or to several.
    fn describe(self, is_one: bool) -> &'static str {
        match (self, is_one) {
            (Self::NotSelected, true) => "script left out by --include or --exclude",
            (Self::NotSelected, false) => "scripts left out by --include or --exclude",
            (Self::AlreadyInstrumented, true) => "file that is already instrumented, copied unchanged",
            (Self::AlreadyInstrumented, false) => "files that are already instrumented, copied unchanged",
            (Self::Syntax, true) => "script that cannot be parsed, copied as it is",
            (Self::Syntax, false) => "scripts that cannot be parsed, copied as they are",
            (Self::TooDeep, true) => "script that nests too deeply, copied as it is",
            (Self::TooDeep, false) => "scripts that nest too deeply, copied as they are",
            (Self::TooLarge, true) => "file that is too large, copied as it is",
            (Self::TooLarge, false) => "files that are too large, copied as they are",
            (Self::Encoding, true) => "file that is not UTF-8, copied as it is",
            (Self::Encoding, false) => "files that are not UTF-8, copied as they are",
            (Self::OtherProblem, true) => "script with another problem, copied as it is",
            (Self::OtherProblem, false) => "scripts with other problems, copied as they are",
            (Self::Untraceable, true) => "function that cannot be traced; docs/polyfill.md says why",
            (Self::Untraceable, false) => "functions that cannot be traced; docs/polyfill.md says why",
            (Self::NoModules, true) => "script for browsers without modules",
            (Self::NoModules, false) => "scripts for browsers without modules",
            (Self::Template, true) => "inline script in a <template>",
            (Self::Template, false) => "inline scripts in a <template>",
            (Self::Foreign, true) => "script in SVG or MathML",
            (Self::Foreign, false) => "scripts in SVG or MathML",
            (Self::PolicyWithHashes, true) => {
                "inline script whose checksum a Content Security Policy may name"
            }
            (Self::PolicyWithHashes, false) => {
                "inline scripts whose checksums a Content Security Policy may name"
            }
            (Self::EventHandler, true) => "page with event handlers in attributes",
            (Self::EventHandler, false) => "pages with event handlers in attributes",
            (Self::Missing, true) => "script that a page loads and that is not in the input",
            (Self::Missing, false) => "scripts that pages load and that are not in the input",
            (Self::SourceMap, true) => {
                "source map of the plain script, not copied; `--source-map` writes one that fits"
            }
            (Self::SourceMap, false) => {
                "source maps of the plain scripts, not copied; `--source-map` writes some that fit"
            }
            (Self::BadSourceMap, true) => {
                "source map that cannot be read; the new one leads to the plain script"
            }
            (Self::BadSourceMap, false) => {
                "source maps that cannot be read; the new ones lead to the plain scripts"
            }
            (Self::Compressed, true) => "compressed copy of a file that changed, not copied",
            (Self::Compressed, false) => "compressed copies of files that changed, not copied",
            (Self::EarlierOutput, true) => "folder that an earlier run has written, not copied",
            (Self::EarlierOutput, false) => "folders that earlier runs have written, not copied",
            (Self::Link, true) => "symbolic link that leads out of the input or to a folder, not copied",
            (Self::Link, false) => "symbolic links that lead out of the input or to folders, not copied",
            (Self::SpecialFile, true) => "file that is neither a file nor a folder, not copied",
            (Self::SpecialFile, false) => "files that are neither files nor folders, not copied",
        }
    }
}

/// Something that is not instrumented.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// A file, or a script in a page: `index.html:12`.
    what: String,
    reason: Reason,
    detail: Option<String>,
}

impl LeftOut {
    pub fn new(what: impl Display, reason: Reason) -> Self {
        Self { what: what.to_string(), reason, detail: None }
    }

    /// A function, by where it is in a file.
    pub fn untraceable(file: &str, place: Position, name: &str) -> Self {
        let left_out = Self::new(format!("{file}:{}:{}", place.line, place.column), Reason::Untraceable);
        if name.is_empty() { left_out } else { left_out.because(name) }
    }

    /// Whether this is the reason.
    pub fn is_for(&self, reason: Reason) -> bool {
        self.reason == reason
    }

    pub fn because(self, detail: impl Display) -> Self {
        Self { detail: Some(detail.to_string()), ..self }
    }
}

/// Bytes of plain and of instrumented text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    pub plain: u64,
    pub instrumented: u64,
}

impl Growth {
    pub fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.instrumented += other.instrumented;
    }

    fn percent(self) -> f64 {
        if self.plain == 0 { 0.0 } else { 100.0 * (self.instrumented as f64 / self.plain as f64 - 1.0) }
    }

    fn json(self) -> Value {
        json!({ "plain": self.plain, "instrumented": self.instrumented })
    }
}

/// `1.00 MB to 1.06 MB (+5.7 %)`
impl Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} ({:+.1} %)", Bytes(self.plain), Bytes(self.instrumented), self.percent())
    }
}

/// Sums of instrumented scripts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Script files.
    pub scripts: u64,
    /// Pages that load the runtime.
    pub pages: u64,
    /// Scripts in pages.
    pub inline_scripts: u64,
    /// Functions with checks, and all functions.
    pub checked_functions: u64,
    pub functions: u64,
    pub loops: u64,
    /// Calls and reads after which the clock is read, or that count as several events.
    pub slow_calls: u64,
    /// Source maps that were written.
    pub source_maps: u64,
    /// Files that were copied as they are.
    pub copied: u64,
    pub growth: Growth,
    /// The growth of the compressed text, of the first files.
    pub gzip: Growth,
    /// Whether some text was not compressed, because there is too much.
    pub is_gzip_partial: bool,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.scripts += other.scripts;
        self.pages += other.pages;
        self.inline_scripts += other.inline_scripts;
        self.checked_functions += other.checked_functions;
        self.functions += other.functions;
        self.loops += other.loops;
        self.slow_calls += other.slow_calls;
        self.source_maps += other.source_maps;
        self.copied += other.copied;
        self.growth.add(other.growth);
        self.gzip.add(other.gzip);
        self.is_gzip_partial |= other.is_gzip_partial;
    }
}

/// The whole summary.
#[derive(Debug)]
pub struct Summary {
    pub output: String,
    /// Whether calls are traced.
    pub is_trace: bool,
    pub counts: Counts,
    /// The patterns of `--functions` that match no function.
    pub unmatched_functions: Vec<String>,
    pub left_out: Vec<LeftOut>,
    /// What a chooser between plain and instrumented scripts needs to know of each page; only in JSON.
    pub pages: Vec<Value>,
}

impl Summary {
    fn groups(&self) -> BTreeMap<Reason, Vec<&LeftOut>> {
        let mut groups: BTreeMap<Reason, Vec<&LeftOut>> = BTreeMap::new();
        for one in &self.left_out {
            groups.entry(one.reason).or_default().push(one);
        }
        groups
    }

    /// Writes it for people.
    pub fn write(&self, out: &mut impl Write, colors: Colors) -> io::Result<()> {
        let Counts {
            scripts, pages, inline_scripts, checked_functions, functions, loops, slow_calls, ..
        } = self.counts;
        writeln!(
            out,
            "{} {}, {} with {}",
            colors.heading("instrumented:"),
            count(scripts, "script"),
            count(pages, "page"),
            count(inline_scripts, "inline script"),
        )?;
        let functions = count(functions, "function");
        if self.is_trace {
            writeln!(out, "  {checked_functions} of {functions} are traced")?;
        } else {
            let (loops, calls) = (count(loops, "loop"), count(slow_calls, "slow call"));
            writeln!(out, "  checks in {checked_functions} of {functions}, {loops}, {calls}")?;
        }
        self.write_growth(out)?;
        for pattern in &self.unmatched_functions {
            let pattern = short(&quoted(pattern));
            writeln!(out, "{} no function matches --functions {pattern}", colors.warning("warning:"))?;
        }
        let groups = self.groups();
        if !groups.is_empty() {
            writeln!(out, "{}", colors.heading("left out:"))?;
        }
        for (reason, group) in groups {
            writeln!(out, "  {} {}: {}", group.len(), reason.describe(group.len() == 1), Names(&group))?;
        }
        let maps = match self.counts.source_maps {
            0 => String::new(),
            maps => format!(", with {}", count(maps, "source map")),
        };
        let others = count(self.counts.copied, "file");
        writeln!(
            out,
            "{} {}{maps}; {others} copied as they are",
            colors.heading("written:"),
            printable(&self.output)
        )
    }

    fn write_growth(&self, out: &mut impl Write) -> io::Result<()> {
        let Counts { growth, gzip, is_gzip_partial, .. } = self.counts;
        write!(out, "  their text grew from {growth}")?;
        if gzip.plain > 0 {
            let part = if is_gzip_partial { " a part of it" } else { "" };
            write!(out, ", gzipped{part} from {gzip}")?;
        }
        writeln!(out)
    }

    /// The same for programs. Lists are bounded, counts are not.
    pub fn json(&self) -> Value {
        let counts = &self.counts;
        let groups = self.groups().into_iter().map(|(reason, group)| {
            let listed = group.iter().take(MAX_LISTED);
            let files: Vec<Value> =
                listed.map(|one| json!({ "name": one.what, "detail": one.detail })).collect();
            json!({ "reason": reason.key(), "count": group.len(), "files": files })
        });
        json!({
            "output": self.output,
            "mode": if self.is_trace { "trace" } else { "sample" },
            "scripts": counts.scripts,
            "pagesWithRuntime": counts.pages,
            "inlineScripts": counts.inline_scripts,
            "functions": counts.functions,
            "checkedFunctions": counts.checked_functions,
            "unmatchedFunctions": self.unmatched_functions,
            "loops": counts.loops,
            "slowCalls": counts.slow_calls,
            "sourceMaps": counts.source_maps,
            "copied": counts.copied,
            "bytes": counts.growth.json(),
            "gzipBytes": counts.gzip.json(),
            "gzipIsPartial": counts.is_gzip_partial,
            "leftOut": groups.collect::<Vec<_>>(),
            "pages": self.pages,
        })
    }
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Names with details, as many as a terminal should show.
struct Names<'a>(&'a [&'a LeftOut]);

impl Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.0.iter().take(MAX_PRINTED).enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            f.write_str(&short(&one.what))?;
            if let Some(detail) = &one.detail {
                write!(f, " ({})", short(detail))?;
            }
        }
        match self.0.len().saturating_sub(MAX_PRINTED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", printable(&text[..end])),
        None => printable(text),
    }
}

/// A size as people read it.
struct Bytes(u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..10_000 => write!(f, "{} B", self.0),
            10_000..1_000_000 => write!(f, "{:.1} kB", self.0 as f64 / 1e3),
            _ => write!(f, "{:.2} MB", self.0 as f64 / 1e6),
        }
    }
}
