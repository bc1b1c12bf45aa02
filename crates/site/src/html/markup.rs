//! The scripts in HTML, with their exact positions.
//!
//! The tokens are those of the HTML standard. Of its [tree construction] this module knows what decides which text is a
//! script: elements whose content is text, templates, and the foreign elements of SVG and MathML. Where it is not sure,
//! a script counts as foreign and is left alone.
//!
//! [tree construction]: https://html.spec.whatwg.org/multipage/parsing.html#tree-construction

use std::ops::Range;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer};

/// How a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// A classic script.
    Classic,
    /// A module.
    Module,
}

/// Where a script is, as far as that decides whether it is instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    /// It runs when it is read.
    Document,
    /// It is part of a `<template>`.
    Template,
    /// It is part of SVG or MathML.
    Foreign,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The value, with character references replaced.
    pub value: String,
    /// Where the value is, without quotes; `None` if it is written with character references.
    pub range: Option<Range<usize>>,
}

/// A `<script>` element with JavaScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptElement {
    /// How it runs.
    pub kind: ScriptKind,
    /// Where it is.
    pub surroundings: Surroundings,
    /// The element with its tags.
    pub element: Range<usize>,
    /// Its start tag.
    pub tag: Range<usize>,
    /// What is between the tags.
    pub text: Range<usize>,
    /// The URL of its code, which is otherwise between the tags.
    pub src: Option<Attribute>,
    /// The checksums that its code must have.
    pub integrity: Option<Attribute>,
    /// What a Content Security Policy may allow it by.
    pub nonce: Option<String>,
    /// Whether it has the attribute `crossorigin`.
    pub has_crossorigin: bool,
    /// Whether only browsers without modules run it.
    pub is_nomodule: bool,
    /// Whether it is what `@selfprof/instrument` puts into pages that choose between plain and instrumented scripts.
    pub is_chooser: bool,
}

/// The attribute of such scripts, as in `packages/instrument/src/choosing-page.js`.
const CHOOSER: &str = "data-selfprof-chooser";

/// A `<link>` to a file with a checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The URL of the file.
    pub href: String,
    /// The checksums that it must have.
    pub integrity: Attribute,
}

/// What a page says of its scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    /// Its scripts, in their order.
    pub scripts: Vec<ScriptElement>,
    /// The files that it loads with a checksum.
    pub links: Vec<Link>,
    /// Where a script goes that is to run first: at the start of the head.
    pub head: usize,
    /// How many attributes are event handlers, such as `onclick`.
    pub handlers: usize,
    /// Whether a Content Security Policy in a `<meta>` element allows scripts by their checksums.
    pub has_policy_with_hashes: bool,
    /// The `http-equiv` of `<meta>` elements, in lower case.
    pub equivalents: Vec<String>,
    /// The URL in `<base>`.
    pub base: Option<String>,
}

/// The attributes of a tag, by their names in lower case.
type Attributes = Vec<(String, Attribute)>;

/// A token, as far as it is of use here.
enum Token {
    Start {
        name: Vec<u8>,
        attributes: Attributes,
        range: Range<usize>,
        is_self_closing: bool,
    },
    End {
        name: Vec<u8>,
        range: Range<usize>,
    },
    /// Characters that are not white space.
    Text,
    Other {
        end: usize,
    },
}

impl Markup {
    /// Reads a page.
    pub fn read(html: &str) -> Self {
        let mut reader = Reader::default();
        let mut tokens = Tokenizer::new_with_emitter(html, CallbackEmitter::new(events(html)));
        while let Some(Ok(token)) = tokens.next() {
            if let Some(state) = reader.read(token) {
                tokens.set_state(state);
            }
        }
        let mut markup = reader.markup;
        markup.head = reader.head.unwrap_or(html.len());
        markup
    }
}

/// Puts tokens together from what the tokenizer reports.
fn events(html: &str) -> impl FnMut(CallbackEvent<'_>, Span<usize>) -> Option<Token> {
    let mut tag: Option<(Vec<u8>, usize)> = None;
    let mut attributes = Attributes::new();
    move |event, span| match event {
        CallbackEvent::OpenStartTag { name } => {
            tag = Some((name.to_owned(), span.start));
            attributes.clear();
            None
        }
        CallbackEvent::AttributeName { name } => {
            // An end tag may have attributes, which mean nothing.
            if tag.is_some() {
                let name = String::from_utf8_lossy(name).into_owned();
                attributes.push((name, Attribute { value: String::new(), range: None }));
            }
            None
        }
        CallbackEvent::AttributeValue { value } => {
            if let Some((_, attribute)) = attributes.last_mut().filter(|_| tag.is_some()) {
                attribute.value = String::from_utf8_lossy(value).into_owned();
                let range = span.start..span.end;
                attribute.range =
                    Some(range).filter(|range| html.get(range.clone()) == Some(&attribute.value));
            }
            None
        }
        CallbackEvent::CloseStartTag { self_closing } => {
            let (name, start) = tag.take()?;
            let attributes = std::mem::take(&mut attributes);
            Some(Token::Start { name, attributes, range: start..span.end, is_self_closing: self_closing })
        }
        CallbackEvent::EndTag { name } => {
            Some(Token::End { name: name.to_owned(), range: span.start..span.end })
        }
        CallbackEvent::String { value } => {
            value.iter().any(|byte| !byte.is_ascii_whitespace()).then_some(Token::Text)
        }
        CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } => Some(Token::Other { end: span.end }),
        CallbackEvent::Error(_) => None,
    }
}

/// Further elements within each other are not followed, as browsers do not.
const MAX_OPEN: usize = 512;

/// An open element that decides what its content is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    name: Vec<u8>,
    /// Whether its children are elements of SVG or MathML.
    is_foreign: bool,
}

#[derive(Default)]
struct Reader {
    markup: Markup,
    head: Option<usize>,
    /// The end of the token before.
    end: usize,
    /// Of `<svg>`, `<math>` and the elements in them that contain HTML.
    foreign: Vec<Open>,
    templates: usize,
    /// A script whose end has not come.
    script: Option<(Attributes, Range<usize>)>,
}

impl Reader {
    /// Reads a token. Returns the state that the tokenizer changes to.
    fn read(&mut self, token: Token) -> Option<State> {
        match token {
            Token::Other { end } => self.end = end,
            Token::Text => {
                self.head.get_or_insert(self.end);
            }
            Token::End { name, range } => {
                self.end = range.end;
                self.read_end(&name, range);
            }
            Token::Start { name, attributes, range, is_self_closing } => {
                self.end = range.end;
                if self.head.is_none() && name != b"html" {
                    self.head = Some(if name == b"head" { range.end } else { range.start });
                }
                return self.read_start(name, attributes, range, is_self_closing);
            }
        }
        None
    }

    fn read_end(&mut self, name: &[u8], range: Range<usize>) {
        if let Some((attributes, tag)) = self.script.take() {
            self.end_script(attributes, tag, range);
        } else if name == b"template" {
            self.templates = self.templates.saturating_sub(1);
        } else if let Some(index) = self.foreign.iter().rposition(|open| open.name == name) {
            self.foreign.truncate(index);
        }
    }

    fn read_start(
        &mut self,
        name: Vec<u8>,
        attributes: Attributes,
        range: Range<usize>,
        is_self_closing: bool,
    ) -> Option<State> {
        let is_handler = |(name, _): &&(String, Attribute)| name.len() > 2 && name.starts_with("on");
        self.markup.handlers += attributes.iter().filter(is_handler).count();
        if self.is_foreign() && is_breakout(&name, &attributes) {
            let rest = self.foreign.iter().rposition(|open| !open.is_foreign).map_or(0, |index| index + 1);
            self.foreign.truncate(rest);
        }
        if self.is_foreign() {
            self.read_foreign(name, attributes, range, is_self_closing);
            return None;
        }
        match name.as_slice() {
            b"script" => {
                self.script = Some((attributes, range));
                return Some(State::ScriptData);
            }
            b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => {
                return Some(State::RawText);
            }
            b"title" | b"textarea" => return Some(State::RcData),
            b"plaintext" => return Some(State::PlainText),
            b"template" => self.templates += 1,
            b"svg" | b"math" if !is_self_closing => self.open(name, true),
            b"meta" => self.read_meta(&attributes),
            b"base" if self.markup.base.is_none() => {
                self.markup.base = find(&attributes, "href").map(|href| href.value.clone());
            }
            b"link" => {
                if let (Some(href), Some(integrity)) =
                    (find(&attributes, "href"), find(&attributes, "integrity"))
                {
                    let (href, integrity) = (href.value.clone(), integrity.clone());
                    self.markup.links.push(Link { href, integrity });
                }
            }
            _ => {}
        }
        None
    }

    fn open(&mut self, name: Vec<u8>, is_foreign: bool) {
        if self.foreign.len() < MAX_OPEN {
            self.foreign.push(Open { name, is_foreign });
        }
    }

    fn is_foreign(&self) -> bool {
        self.foreign.last().is_some_and(|open| open.is_foreign)
    }

    fn read_foreign(
        &mut self,
        name: Vec<u8>,
        attributes: Attributes,
        range: Range<usize>,
        is_self_closing: bool,
    ) {
        match name.as_slice() {
            b"script" => {
                // Its text is markup there, and does not matter.
                let end = range.end..range.end;
                self.push_script(attributes, range, end, Surroundings::Foreign);
            }
            b"svg" | b"math" if !is_self_closing => self.open(name, true),
            b"foreignobject" | b"desc" | b"title" | b"mi" | b"mo" | b"mn" | b"ms" | b"mtext"
            | b"annotation-xml"
                if !is_self_closing =>
            {
                self.open(name, false);
            }
            _ => {}
        }
    }

    fn read_meta(&mut self, attributes: &Attributes) {
        let Some(equivalent) = find(attributes, "http-equiv") else { return };
        let equivalent = equivalent.value.to_ascii_lowercase();
        if equivalent == "content-security-policy"
            && let Some(policy) = find(attributes, "content")
        {
            let policy = policy.value.to_ascii_lowercase();
            self.markup.has_policy_with_hashes |=
                ["'sha256-", "'sha384-", "'sha512-"].iter().any(|hash| policy.contains(hash));
        }
        self.markup.equivalents.push(equivalent);
    }

    fn end_script(&mut self, attributes: Attributes, tag: Range<usize>, end: Range<usize>) {
        let surroundings = if self.templates > 0 { Surroundings::Template } else { Surroundings::Document };
        self.push_script(attributes, tag, end, surroundings);
    }

    fn push_script(
        &mut self,
        attributes: Attributes,
        tag: Range<usize>,
        end: Range<usize>,
        surroundings: Surroundings,
    ) {
        let Some(kind) = kind_of(&attributes) else { return };
        self.markup.scripts.push(ScriptElement {
            kind,
            surroundings,
            element: tag.start..end.end,
            text: tag.end..end.start,
            tag,
            src: find(&attributes, "src").cloned(),
            integrity: find(&attributes, "integrity").cloned(),
            nonce: find(&attributes, "nonce").map(|nonce| nonce.value.clone()),
            has_crossorigin: find(&attributes, "crossorigin").is_some(),
            is_nomodule: kind == ScriptKind::Classic && find(&attributes, "nomodule").is_some(),
            is_chooser: find(&attributes, CHOOSER).is_some(),
        });
    }
}

/// The first attribute with this name counts.
fn find<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|(known, _)| known == name).map(|(_, attribute)| attribute)
}

/// [Prepares the script element](https://html.spec.whatwg.org/multipage/scripting.html#prepare-the-script-element),
/// steps 8 to 13: what it is, if it is JavaScript.
fn kind_of(attributes: &Attributes) -> Option<ScriptKind> {
    let value = |name| find(attributes, name).map(|attribute| attribute.value.as_str());
    let kind = match (value("type"), value("language")) {
        (Some(""), _) | (None, None | Some("")) => return Some(ScriptKind::Classic),
        (Some(kind), _) => kind.trim_matches(|c: char| c.is_ascii_whitespace()).to_ascii_lowercase(),
        (None, Some(language)) => format!("text/{}", language.to_ascii_lowercase()),
    };
    if kind == "module" {
        return Some(ScriptKind::Module);
    }
    is_javascript(&kind).then_some(ScriptKind::Classic)
}

/// Whether it is a [JavaScript MIME type](https://mimesniff.spec.whatwg.org/#javascript-mime-type).
fn is_javascript(kind: &str) -> bool {
    let Some((main, sub)) = kind.split_once('/') else { return false };
    match main {
        "application" => matches!(sub, "ecmascript" | "javascript" | "x-ecmascript" | "x-javascript"),
        "text" => {
            matches!(
                sub,
                "ecmascript" | "javascript" | "jscript" | "livescript" | "x-ecmascript" | "x-javascript"
            ) || sub
                .strip_prefix("javascript1.")
                .is_some_and(|minor| matches!(minor, "0" | "1" | "2" | "3" | "4" | "5"))
        }
        _ => false,
    }
}

/// Whether the start tag ends the [foreign
/// content](https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inforeign) around it.
fn is_breakout(name: &[u8], attributes: &Attributes) -> bool {
    const NAMES: &str = "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta \
                         nobr ol p pre ruby s small span strong strike sub sup table tt u ul var";
    match name {
        b"font" => attributes.iter().any(|(name, _)| matches!(name.as_str(), "color" | "face" | "size")),
        _ => NAMES.split_ascii_whitespace().any(|known| known.as_bytes() == name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the scripts that run when the page is read, and whether they are modules.
    #[track_caller]
    fn check(html: &str, expected: &[(&str, bool)]) {
        let scripts = Markup::read(html).scripts;
        let found: Vec<_> = scripts
            .iter()
            .filter(|script| script.surroundings == Surroundings::Document)
            .map(|script| (&html[script.text.clone()], script.kind == ScriptKind::Module))
            .collect();
        assert_eq!(found, expected, "{html}");
    }

    /// parse5 finds the same in each of these.
    #[test]
    fn scripts_are_those_of_browsers() {
        check("<script>a()</script><SCRIPT\n>b()</ScRiPt\t\n>", &[("a()", false), ("b()", false)]);
        check("<script type=module>a()</script>", &[("a()", true)]);
        check("<script type=' MODULE '>a()</script>", &[("a()", true)]);
        check(
            "<script type=''>a()</script><script language=JavaScript1.5>b()</script>",
            &[("a()", false), ("b()", false)],
        );
        check(
            "<script type=text/javascript>a()</script><script type='text/javascript; a=b'>no</script>",
            &[("a()", false)],
        );
        check(
            "<script type=application/json>{}</script><script type=importmap>{}</script><script language=vbs>x</script>",
            &[],
        );
        check("<script>'<\\/script><script>'</script>", &[("'<\\/script><script>'", false)]);
        check("<script>'<!--<script></script>'</script>-->", &[("'<!--<script></script>'", false)]);
        check("<script><!--\na()\n--></script>b", &[("<!--\na()\n-->", false)]);
        check("<script>a()</script foo='>'>b", &[("a()", false)]);
        check("<script>a()", &[]);
        check("<!-- <script>no</script> --><!--><script>a()</script>", &[("a()", false)]);
        check("<textarea><script>no</script></textarea><title><script>no</script></title>", &[]);
        check("<style><script>no</script></style><noscript><script>no</script></noscript>", &[]);
        check("<iframe><script>no</script></iframe><xmp><script>no</script></xmp>", &[]);
        check("<plaintext><script>no</script>", &[]);
        check(
            "<template><script>no</script><template></template><script>no</script></template><script>a()</script>",
            &[("a()", false)],
        );
        check("<svg><script>no</script></svg><script>a()</script>", &[("a()", false)]);
        check("<svg><script/><path/></svg><script>a()</script>", &[("a()", false)]);
        check("<svg/><script>a()</script>", &[("a()", false)]);
        check("<svg><p><script>a()</script>", &[("a()", false)]);
        check(
            "<svg><title><script>a()</script></title><style><script>no</script></style></svg>",
            &[("a()", false)],
        );
        check(
            "<svg><foreignObject><style><script>no</script></style><script>a()</script></foreignObject></svg>",
            &[("a()", false)],
        );
        check("<math><mi><script>a()</script></mi><script>no</script></math>", &[("a()", false)]);
        check("<div title='<script>no</script>'><script data-a=\"'>\">a()</script>", &[("a()", false)]);
        check(
            "<table><script>a()</script></table><select><script>b()</script></select>",
            &[("a()", false), ("b()", false)],
        );
        check(
            "é\r\n<script>\r\n'é'\r\n</script>\r\n<script>\r'𝒳'</script>",
            &[("\r\n'é'\r\n", false), ("\r'𝒳'", false)],
        );
    }

    #[test]
    fn attributes_have_ranges() {
        let html = "é<script src=a.js integrity='sha256-x=' nonce=n src=b.js NoModule></script><script src=\"a&amp;b\">";
        let html = format!("{html}</script>");
        let scripts = Markup::read(&html).scripts;
        let src = scripts[0].src.as_ref().unwrap();
        assert_eq!((src.value.as_str(), &html[src.range.clone().unwrap()]), ("a.js", "a.js"));
        let integrity = scripts[0].integrity.as_ref().unwrap();
        assert_eq!(&html[integrity.range.clone().unwrap()], "sha256-x=");
        assert_eq!((scripts[0].nonce.as_deref(), scripts[0].is_nomodule), (Some("n"), true));
        assert_eq!(&html[scripts[0].element.clone()][..8], "<script ");
        assert!(html[scripts[0].element.clone()].ends_with("</script>"));
        assert_eq!(scripts[1].src, Some(Attribute { value: "a&b".into(), range: None }));
    }

    #[test]
    fn the_head_is_where_it_begins() {
        #[track_caller]
        fn check(html: &str) {
            let (before, after) = html.split_once('^').unwrap();
            assert_eq!(Markup::read(&format!("{before}{after}")).head, before.len(), "{html}");
        }
        check("<!doctype html><html lang=en><head>^<meta charset=utf-8>");
        check("<!doctype html>\n<!-- a --><html>\n<HEAD\n>^<script></script>");
        check("<!doctype html>\n<html>^<title>a</title>");
        check("<!doctype html><html>\n^<body>");
        check("<!doctype html>^text<head>");
        check("^<script></script>");
        check("^<div></div>");
        check("\n ^<div></div>");
        check("<!-- only -->^");
    }

    #[test]
    fn a_page_tells_more() {
        let page = Markup::read(
            "<base href=/a/><base href=/b/><link rel=modulepreload href=x.js integrity=sha384-x>\
             <meta http-equiv=Content-Security-Policy content=\"script-src 'SHA256-abc'\">\
             <body onload='a()'><svg onclick=b()></svg>",
        );
        assert_eq!(
            (page.base.as_deref(), page.handlers, page.has_policy_with_hashes),
            (Some("/a/"), 2, true)
        );
        assert_eq!(
            (page.links[0].href.as_str(), page.links[0].integrity.value.as_str()),
            ("x.js", "sha384-x")
        );
        assert!(
            !Markup::read("<meta http-equiv=Content-Security-Policy content=\"script-src 'self'\">")
                .has_policy_with_hashes
        );
    }

    #[test]
    fn hostile_pages_end() {
        let parts = [
            "<",
            "<!--",
            "<script",
            "<a b=",
            "<script ",
            "<script>",
            "<svg>",
            "<svg><p>",
            "<template>",
            "<a ='",
            "</",
            "<é",
            "\r",
            "&#0;",
            "<![CDATA[",
            "<svg><![CDATA[",
            "<math><annotation-xml>",
            "</svg>",
            "<script/>",
        ];
        let check = |html: &str| {
            for script in Markup::read(html).scripts {
                assert!(html.get(script.text).is_some() && html[script.tag].starts_with('<'));
            }
        };
        for part in parts {
            check(&part.repeat(20_000));
            parts.iter().for_each(|other| check(&format!("{part}{other}").repeat(300)));
        }
    }
}
