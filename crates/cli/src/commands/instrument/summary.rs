//! Printing what was instrumented, what was left out and why.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::io::{self, Write};

use selfprof_site::{Choice, Counts, Growth, LeftOut, Reason, Summary};
use serde_json::{Value, json};

use crate::terminal::color::Colors;
use crate::terminal::names::{printable, quoted};

/// At most this many names are printed for a reason; the rest are counted.
const MAX_PRINTED: usize = 5;

/// The same in JSON.
const MAX_LISTED: usize = 1000;

/// The longest name or explanation that is printed, in characters.
const MAX_CHARACTERS: usize = 160;

/// A summary, for people and for programs.
pub struct PrintedSummary<'a> {
    pub summary: &'a Summary,
    /// The output folder, as it was given.
    pub output: &'a str,
    /// Whether calls are traced.
    pub is_trace: bool,
}

impl PrintedSummary<'_> {
    fn groups(&self) -> BTreeMap<Reason, Vec<&LeftOut>> {
        let mut groups: BTreeMap<Reason, Vec<&LeftOut>> = BTreeMap::new();
        for one in &self.summary.left_out {
            groups.entry(one.reason).or_default().push(one);
        }
        groups
    }

    /// Writes it for people.
    pub fn write(&self, out: &mut impl Write, colors: Colors) -> io::Result<()> {
        let Counts {
            scripts, pages, inline_scripts, checked_functions, functions, loops, slow_calls, ..
        } = self.summary.counts;
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
        for pattern in &self.summary.unmatched_functions {
            let pattern = short(&quoted(pattern));
            writeln!(out, "{} no function matches --functions {pattern}", colors.warning("warning:"))?;
        }
        let groups = self.groups();
        if !groups.is_empty() {
            writeln!(out, "{}", colors.heading("left out:"))?;
        }
        for (reason, group) in groups {
            writeln!(out, "  {} {}: {}", group.len(), describe(reason, group.len() == 1), Names(&group))?;
        }
        let maps = match self.summary.counts.source_maps {
            0 => String::new(),
            maps => format!(", with {}", count(maps, "source map")),
        };
        let others = count(self.summary.counts.copied, "file");
        writeln!(
            out,
            "{} {}{maps}; {others} copied unchanged",
            colors.heading("written:"),
            printable(self.output)
        )
    }

    fn write_growth(&self, out: &mut impl Write) -> io::Result<()> {
        let Counts { growth, gzip, is_gzip_partial, .. } = self.summary.counts;
        write!(out, "  their text grew from {}", Grown(growth))?;
        if gzip.plain > 0 {
            let part = if is_gzip_partial { " a part of it" } else { "" };
            write!(out, ", gzipped{part} from {}", Grown(gzip))?;
        }
        writeln!(out)
    }

    /// The same for programs. Lists are bounded, counts are not.
    pub fn json(&self) -> Value {
        let counts = &self.summary.counts;
        let groups = self.groups().into_iter().map(|(reason, group)| {
            let listed = group.iter().take(MAX_LISTED);
            let files: Vec<Value> =
                listed.map(|one| json!({ "name": one.what, "detail": one.detail })).collect();
            json!({ "reason": key(reason), "count": group.len(), "files": files })
        });
        json!({
            "output": self.output,
            "mode": if self.is_trace { "trace" } else { "sample" },
            "scripts": counts.scripts,
            "pagesWithRuntime": counts.pages,
            "inlineScripts": counts.inline_scripts,
            "functions": counts.functions,
            "checkedFunctions": counts.checked_functions,
            "unmatchedFunctions": self.summary.unmatched_functions,
            "loops": counts.loops,
            "slowCalls": counts.slow_calls,
            "sourceMaps": counts.source_maps,
            "copied": counts.copied,
            "bytes": sizes(counts.growth),
            "gzipBytes": sizes(counts.gzip),
            "gzipIsPartial": counts.is_gzip_partial,
            "leftOut": groups.collect::<Vec<_>>(),
            "pages": self.summary.pages.iter().map(page).collect::<Vec<_>>(),
        })
    }
}

/// A reason as a key in JSON.
fn key(reason: Reason) -> &'static str {
    match reason {
        Reason::NotSelected => "not-selected",
        Reason::AlreadyInstrumented => "already-instrumented",
        Reason::Syntax => "syntax",
        Reason::TooDeep => "too-deep",
        Reason::TooLarge => "too-large",
        Reason::Encoding => "encoding",
        Reason::OtherProblem => "other",
        Reason::Untraceable => "untraceable",
        Reason::NoModules => "nomodule",
        Reason::Template => "template",
        Reason::Foreign => "foreign",
        Reason::PolicyWithHashes => "policy-with-hashes",
        Reason::EventHandler => "event-handler",
        Reason::Missing => "missing",
        Reason::SourceMap => "source-map",
        Reason::BadSourceMap => "bad-source-map",
        Reason::Compressed => "compressed",
        Reason::EarlierOutput => "earlier-output",
        Reason::Link => "link",
        Reason::SpecialFile => "special-file",
    }
}

/// What happened to one thing or to several.
fn describe(reason: Reason, is_one: bool) -> &'static str {
    match (reason, is_one) {
        (Reason::NotSelected, true) => "script left out by --include or --exclude",
        (Reason::NotSelected, false) => "scripts left out by --include or --exclude",
        (Reason::AlreadyInstrumented, true) => "file that is already instrumented, copied unchanged",
        (Reason::AlreadyInstrumented, false) => "files that are already instrumented, copied unchanged",
        (Reason::Syntax, true) => "script that cannot be parsed, copied unchanged",
        (Reason::Syntax, false) => "scripts that cannot be parsed, copied unchanged",
        (Reason::TooDeep, true) => "script that nests too deeply, copied unchanged",
        (Reason::TooDeep, false) => "scripts that nest too deeply, copied unchanged",
        (Reason::TooLarge, true) => "file that is too large, copied unchanged",
        (Reason::TooLarge, false) => "files that are too large, copied unchanged",
        (Reason::Encoding, true) => "file that is not UTF-8, copied unchanged",
        (Reason::Encoding, false) => "files that are not UTF-8, copied unchanged",
        (Reason::OtherProblem, true) => "script with another problem, copied unchanged",
        (Reason::OtherProblem, false) => "scripts with other problems, copied unchanged",
        (Reason::Untraceable, true) => "function that cannot be traced; docs/polyfill.md says why",
        (Reason::Untraceable, false) => "functions that cannot be traced; docs/polyfill.md says why",
        (Reason::NoModules, true) => "script for browsers without modules",
        (Reason::NoModules, false) => "scripts for browsers without modules",
        (Reason::Template, true) => "inline script in a <template>",
        (Reason::Template, false) => "inline scripts in a <template>",
        (Reason::Foreign, true) => "script in SVG or MathML",
        (Reason::Foreign, false) => "scripts in SVG or MathML",
        (Reason::PolicyWithHashes, true) => "inline script whose checksum a Content Security Policy may name",
        (Reason::PolicyWithHashes, false) => {
            "inline scripts whose checksums a Content Security Policy may name"
        }
        (Reason::EventHandler, true) => "page with event handlers in attributes",
        (Reason::EventHandler, false) => "pages with event handlers in attributes",
        (Reason::Missing, true) => "script that a page loads and that is not in the input",
        (Reason::Missing, false) => "scripts that pages load and that are not in the input",
        (Reason::SourceMap, true) => {
            "source map of the plain script, not copied; `--source-map` writes one that fits"
        }
        (Reason::SourceMap, false) => {
            "source maps of the plain scripts, not copied; `--source-map` writes some that fit"
        }
        (Reason::BadSourceMap, true) => {
            "source map that cannot be read; the new one leads to the plain script"
        }
        (Reason::BadSourceMap, false) => {
            "source maps that cannot be read; the new ones lead to the plain scripts"
        }
        (Reason::Compressed, true) => "compressed copy of a file that changed, not copied",
        (Reason::Compressed, false) => "compressed copies of files that changed, not copied",
        (Reason::EarlierOutput, true) => "folder that an earlier run has written, not copied",
        (Reason::EarlierOutput, false) => "folders that earlier runs have written, not copied",
        (Reason::Link, true) => "symbolic link that leads out of the input or to a folder, not copied",
        (Reason::Link, false) => "symbolic links that lead out of the input or to folders, not copied",
        (Reason::SpecialFile, true) => "file that is neither a file nor a folder, not copied",
        (Reason::SpecialFile, false) => "files that are neither files nor folders, not copied",
    }
}

fn sizes(growth: Growth) -> Value {
    json!({ "plain": growth.plain, "instrumented": growth.instrumented })
}

fn page(page: &Choice) -> Value {
    let scripts = page.scripts.iter().map(|script| {
        json!({ "start": script.element.start, "end": script.element.end, "instrumented": script.instrumented })
    });
    json!({
        "path": page.path,
        "head": page.head,
        "nonce": page.nonce,
        "runtime": page.runtime,
        "scripts": scripts.collect::<Vec<_>>(),
    })
}

/// `1.00 MB to 1.06 MB (+5.7 %)`
struct Grown(Growth);

impl Display for Grown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Growth { plain, instrumented } = self.0;
        let percent = if plain == 0 { 0.0 } else { 100.0 * (instrumented as f64 / plain as f64 - 1.0) };
        write!(f, "{} to {} ({percent:+.1} %)", Bytes(plain), Bytes(instrumented))
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
