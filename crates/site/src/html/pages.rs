//! HTML pages with inline scripts.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use selfprof_instrument::{Function, Goal, Position, is_instrumented};

use crate::build::Build;
use crate::error::SiteError;
use crate::files::inputs::Input;
use crate::files::places::{Places, Resolved, Target};
use crate::files::text::{read, split_mark};
use crate::files::urls::url_of;
use crate::runtime::RUNTIME;
use crate::scripts::map_links;
use crate::summary::{Choice, ChosenScript, Counts, Growth, LeftOut, Reason, Refusal};

use super::checksums::KnownChecksums;
use super::cursor::Cursor;
use super::markup::{Attribute, Markup, ScriptElement, ScriptKind, Surroundings};

/// A script that a page loads.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The index of the input.
    pub index: usize,
    /// How the page loads it; `None` if only browsers without modules do.
    pub goal: Option<Goal>,
}

/// How a page shows that it is no plain one; `None` for a plain one.
pub fn sign_of_instrumentation(html: &str, markup: &Markup) -> Option<String> {
    let scripts = || markup.scripts.iter().filter(|script| script.surroundings == Surroundings::Document);
    let is_runtime = |script: &ScriptElement| {
        let path = script.src.as_ref().and_then(|src| src.value.trim().split(['?', '#']).next());
        path.is_some_and(|path| path.rsplit('/').next() == Some(RUNTIME))
    };
    if scripts().any(is_runtime) {
        return Some(format!("it loads {RUNTIME}"));
    }
    if scripts().any(|script| script.src.is_none() && is_instrumented(&html[script.text.clone()])) {
        return Some("it has an instrumented script".to_owned());
    }
    let chooses = markup.scripts.iter().any(|script| script.is_chooser);
    chooses.then(|| "it chooses between plain and instrumented scripts".to_owned())
}

/// The inputs that a page loads as scripts.
pub fn loads(markup: &Markup, page: &Path, places: &Places<'_>) -> Vec<Load> {
    let loads = markup.scripts.iter().filter_map(|script| {
        let src = script.src.as_ref()?;
        let Resolved::Input(Target { index, .. }) = places.resolve(&src.value, page, markup.base.as_deref())
        else {
            return None;
        };
        Some(Load { index, goal: Some(goal_of(script.kind)).filter(|_| !script.is_nomodule) })
    });
    loads.collect()
}

fn goal_of(kind: ScriptKind) -> Goal {
    match kind {
        ScriptKind::Classic => Goal::Script,
        ScriptKind::Module => Goal::Module,
    }
}

/// What was done with a page.
#[derive(Debug, Default)]
pub struct PageResult {
    /// The functions of its inline scripts.
    pub functions: Vec<Function>,
    pub counts: Counts,
    pub left_out: Vec<LeftOut>,
    /// Whether it differs from the plain one.
    pub is_changed: bool,
    /// What a chooser between plain and instrumented scripts needs to know.
    pub choice: Option<Choice>,
}

/// What pages need to know of the inputs.
pub struct Site<'a> {
    pub build: &'a Build,
    pub files: &'a [Input],
    pub places: Places<'a>,
    /// Which inputs are instrumented.
    pub is_instrumented: HashMap<usize, bool>,
    pub checksums: KnownChecksums,
    /// Where the output folder is in the input, if it is there.
    pub output_within: Option<&'a Path>,
}

/// A change of a page: what replaces a range of it.
struct Change {
    range: Range<usize>,
    text: String,
    /// The functions of the text, if it is a script.
    functions: Option<Vec<Function>>,
}

impl Site<'_> {
    /// Instruments a page and writes it, or copies it.
    pub fn instrument(&self, input: &Input) -> Result<PageResult, SiteError> {
        let mut result = PageResult::default();
        let text = match read(&input.source)? {
            Ok(text) => text,
            Err((reason, detail)) => {
                result.left_out.push(LeftOut::new(input.name(), reason).because(detail));
                return self.copy(input, result);
            }
        };
        let (mark, html) = split_mark(&text);
        let markup = Markup::read(html);
        // A page that chooses between the input and this output is found by each run of the plugin but the first.
        let is_expected =
            self.output_within.is_some() && markup.scripts.iter().any(|script| script.is_chooser);
        if let Some(sign) = sign_of_instrumentation(html, &markup).filter(|_| !is_expected) {
            result.left_out.push(LeftOut::new(input.name(), Reason::AlreadyInstrumented).because(sign));
            return self.copy(input, result);
        }
        if markup.handlers > 0 {
            result.left_out.push(
                LeftOut::new(input.name(), Reason::EventHandler)
                    .because(format!("{} of them", markup.handlers)),
            );
        }
        // A part of a page, such as a template of a framework, has none.
        if !markup.scripts.iter().any(|script| !script.is_nomodule) {
            return self.copy(input, result);
        }
        let mut changes = vec![self.runtime(input, &markup)];
        let mut lines = Cursor::new(html);
        for script in &markup.scripts {
            let line = lines.advance(script.tag.start).line;
            let name = || format!("{}:{line}", input.name());
            if let Err((reason, detail)) =
                self.change(input, (html, &markup, script), &mut changes, &mut result)
            {
                let left_out = LeftOut::new(name(), reason);
                result.left_out.push(if detail.is_empty() { left_out } else { left_out.because(detail) });
            }
        }
        for link in &markup.links {
            changes.extend(self.integrity(input, &markup, &link.href, Some(&link.integrity)));
        }
        changes.sort_by_key(|change| (change.range.start, change.range.end));
        let (output, functions) = apply(html, changes);
        result.choice = self.choice(input, (html, mark.len()), &markup);
        result.functions = functions;
        result.counts.pages = 1;
        result
            .counts
            .growth
            .add(Growth { plain: 0, instrumented: self.runtime(input, &markup).text.len() as u64 });
        result.is_changed = true;
        self.build.output.write(&input.place, format!("{mark}{output}").as_bytes())?;
        Ok(result)
    }

    fn copy(&self, input: &Input, mut result: PageResult) -> Result<PageResult, SiteError> {
        self.build.output.copy(&input.place, &input.source)?;
        result.counts.copied = 1;
        Ok(result)
    }

    /// The element that loads the runtime.
    fn runtime(&self, input: &Input, markup: &Markup) -> Change {
        let depth = input.place.parent().map_or(0, |folder| folder.components().count());
        // A policy may allow scripts by their nonce, which a server or a template sets.
        let nonce = markup.scripts.iter().find_map(|script| script.nonce.as_deref());
        let nonce = nonce.map_or(String::new(), |nonce| format!(" nonce=\"{}\"", escaped(nonce)));
        let text = format!("<script src=\"{}{RUNTIME}\"{nonce}></script>", "../".repeat(depth));
        Change { range: markup.head..markup.head, text, functions: None }
    }

    /// Changes a script element.
    fn change(
        &self,
        input: &Input,
        (html, markup, script): (&str, &Markup, &ScriptElement),
        changes: &mut Vec<Change>,
        result: &mut PageResult,
    ) -> Result<(), Refusal> {
        if let Some(src) = &script.src {
            changes.extend(self.integrity(input, markup, &src.value, script.integrity.as_ref()));
            let resolved = self.places.resolve(&src.value, &input.place, markup.base.as_deref());
            return match resolved {
                Resolved::Missing => Err((Reason::Missing, src.value.clone())),
                _ => Ok(()),
            };
        }
        let refuse = |reason| Err((reason, String::new()));
        let source = &html[script.text.clone()];
        match script.surroundings {
            Surroundings::Template => return refuse(Reason::Template),
            Surroundings::Foreign => return refuse(Reason::Foreign),
            Surroundings::Document if source.trim().is_empty() => return Ok(()),
            Surroundings::Document if script.is_nomodule => return refuse(Reason::NoModules),
            Surroundings::Document if markup.has_policy_with_hashes => {
                return refuse(Reason::PolicyWithHashes);
            }
            Surroundings::Document if !input.is_selected => return refuse(Reason::NotSelected),
            Surroundings::Document => {}
        }
        // Lines end there in scripts, but not in pages, so that several places would have the same line and column.
        if source.contains(['\u{2028}', '\u{2029}']) {
            return Err((Reason::OtherProblem, "it has a line end of Unicode, U+2028 or U+2029".to_owned()));
        }
        // As they are joined in the table.
        let functions = changes.iter().filter_map(|change| change.functions.as_ref());
        let first_id = input.first_id + functions.map(|functions| functions.len() as u32).sum::<u32>();
        let goal = goal_of(script.kind);
        let mut instrumented = self.build.instrument(source, goal, first_id, &mut result.counts)?;
        if !instrumented.untraceable.is_empty() {
            let start = Cursor::new(html).advance(script.text.start);
            result.left_out.extend(instrumented.untraceable.iter().map(|&index| {
                let function = &instrumented.functions[index as usize];
                let place = within(start, Position { line: function.line, column: function.column });
                LeftOut::untraceable(&input.name(), place, &function.name)
            }));
        }
        map_links::remove(&mut instrumented.text);
        result.counts.inline_scripts += 1;
        changes.push(Change {
            range: script.text.clone(),
            text: instrumented.text,
            functions: Some(instrumented.functions),
        });
        Ok(())
    }

    /// The new checksum of an instrumented script.
    fn integrity(
        &self,
        input: &Input,
        markup: &Markup,
        url: &str,
        old: Option<&Attribute>,
    ) -> Option<Change> {
        let (target, old) = (self.instrumented(input, markup, url)?, old?);
        let (range, text) = (old.range.clone()?, self.new_integrity(&target, old)?);
        Some(Change { range, text, functions: None })
    }

    fn new_integrity(&self, target: &Target, old: &Attribute) -> Option<String> {
        let script = &self.files[target.index];
        let instrumented = self.build.output.path_of(&script.place);
        self.checksums.replaced(&old.value, &script.source, &instrumented)
    }

    /// The instrumented script that a URL leads to.
    fn instrumented(&self, input: &Input, markup: &Markup, url: &str) -> Option<Target> {
        match self.places.resolve(url, &input.place, markup.base.as_deref()) {
            Resolved::Input(target) if self.is_instrumented.get(&target.index) == Some(&true) => Some(target),
            _ => None,
        }
    }

    /// Which elements of the plain page load scripts that are instrumented, and what would load those. Offsets count
    /// bytes.
    fn choice(&self, input: &Input, (html, shift): (&str, usize), markup: &Markup) -> Option<Choice> {
        let within = url_of(self.output_within?);
        let mut runtime = None;
        let mut scripts = Vec::new();
        for script in &markup.scripts {
            let element = &html[script.element.clone()];
            // The chooser puts an element that is not chosen into a comment.
            let fits_in_comment = !element.contains("-->") && !element.contains("--!>");
            if script.surroundings != Surroundings::Document || script.is_nomodule || !fits_in_comment {
                continue;
            }
            let Some((src, range)) = script.src.as_ref().and_then(|src| Some((src, src.range.clone()?)))
            else {
                continue;
            };
            let Some(target) = self.instrumented(input, markup, &src.value) else { continue };
            if markup.base.is_some() && !target.base.starts_with('/') {
                continue;
            }
            runtime.get_or_insert_with(|| format!("{}{within}/{RUNTIME}", target.base));
            let url = format!("{}{within}/{}", target.base, self.files[target.index].url());
            let integrity = script.integrity.as_ref().and_then(|old| {
                Some(Change {
                    range: old.range.clone()?,
                    text: self.new_integrity(&target, old)?,
                    functions: None,
                })
            });
            let mut changes = vec![Change { range, text: url, functions: None }];
            changes.extend(integrity);
            changes.sort_by_key(|change| change.range.start);
            for change in &mut changes {
                change.range = change.range.start - script.tag.start..change.range.end - script.tag.start;
            }
            let (tag, _) = apply(&html[script.tag.clone()], changes);
            scripts.push(ChosenScript {
                element: shift + script.element.start..shift + script.element.end,
                instrumented: format!("{tag}</script>"),
            });
        }
        Some(Choice {
            path: input.place.to_str()?.to_owned(),
            head: shift + markup.head,
            nonce: markup.scripts.iter().find_map(|script| script.nonce.clone()),
            runtime: runtime?,
            scripts,
        })
    }
}

/// A text in an attribute with double quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// Applies changes, which are in order and do not overlap. Gives the text, and the functions with their places in the
/// plain page and in the text.
fn apply(html: &str, changes: Vec<Change>) -> (String, Vec<Function>) {
    let mut text =
        String::with_capacity(html.len() + changes.iter().map(|change| change.text.len()).sum::<usize>());
    let mut scripts = Vec::new();
    let mut from = 0;
    for change in changes {
        let Some(between) = html.get(from..change.range.start) else { continue };
        text += between;
        from = change.range.end;
        if let Some(functions) = change.functions {
            scripts.push((change.range.start, text.len(), functions));
        }
        text += &change.text;
    }
    text += &html[from..];

    let mut moved = Vec::new();
    let (mut plain, mut instrumented) = (Cursor::new(html), Cursor::new(&text));
    for (plain_start, start, functions) in scripts {
        let (plain_start, start) = (plain.advance(plain_start), instrumented.advance(start));
        let first = moved.len() as u32;
        moved.extend(functions.into_iter().map(|function| {
            let place = within(plain_start, Position { line: function.line, column: function.column });
            Function {
                line: place.line,
                column: place.column,
                start: within(start, function.start),
                end: within(start, function.end),
                parent: function.parent.map(|parent| first + parent),
                ..function
            }
        }));
    }
    (text, moved)
}

/// The place in a page of a place in a script that starts there. The first line of the script continues a line of the
/// page.
fn within(start: Position, place: Position) -> Position {
    let column = if place.line == 1 { start.column - 1 + place.column } else { place.column };
    Position { line: start.line - 1 + place.line, column }
}
