//! The scripts of a page, as far as its HTML names them.

/// A `<script>` element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its URL, as it is written. Without one, its code is in the page.
    pub src: Option<String>,
    /// Whether it is fetched with CORS: it has the attribute `crossorigin`, or is a module.
    pub is_cors: bool,
}

/// What a page says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Those that run, in their order.
    pub scripts: Vec<Script>,
    /// The `http-equiv` of `<meta>` elements, in lower case.
    pub equivalents: Vec<String>,
    /// The URL in `<base>`.
    pub base: Option<String>,
}

/// Reads a page. What is in comments and in scripts is no element.
pub fn read(html: &str) -> Page {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let name_length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name = rest[..name_length].to_ascii_lowercase();
        if name.is_empty() {
            continue;
        }
        let (attributes, after) = attributes(&rest[name_length..]);
        rest = after;
        let attribute =
            |name: &str| attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        match name.as_str() {
            "script" => {
                let kind = attribute("type").unwrap_or_default().trim().to_ascii_lowercase();
                let is_module = kind == "module";
                if is_module || kind.is_empty() || kind.ends_with("javascript") {
                    let is_cors = is_module || attribute("crossorigin").is_some();
                    page.scripts.push(Script { src: attribute("src"), is_cors });
                }
                rest = after_end(rest, "script");
            }
            "style" | "template" | "noscript" | "textarea" | "title" => rest = after_end(rest, &name),
            "meta" => {
                page.equivalents.extend(attribute("http-equiv").map(|name| name.to_ascii_lowercase()));
            }
            "base" => page.base = page.base.or(attribute("href")),
            _ => {}
        }
    }
    page
}

/// What follows the end tag of an element.
fn after_end<'a>(text: &'a str, name: &str) -> &'a str {
    let bytes = text.as_bytes();
    let is_end = |&at: &usize| {
        bytes[at..].starts_with(b"</")
            && bytes
                .get(at + 2..at + 2 + name.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    match memchr(bytes, b'<').find(is_end) {
        Some(at) => &text[at + 1..],
        None => "",
    }
}

fn memchr(bytes: &[u8], wanted: u8) -> impl Iterator<Item = usize> {
    bytes.iter().enumerate().filter(move |&(_, &byte)| byte == wanted).map(|(at, _)| at)
}

/// The attributes of a tag, and what follows it. Character references are not read, except the one that URLs have.
fn attributes(tag: &str) -> (Vec<(String, String)>, &str) {
    let mut attributes = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let Some(first) = rest.chars().next() else { return (attributes, "") };
        if first == '>' {
            return (attributes, &rest[1..]);
        }
        let end = |c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/');
        // A name may begin with `=`.
        let length = rest[first.len_utf8()..].find(end).map_or(rest.len(), |at| at + first.len_utf8());
        let name = rest[..length].to_ascii_lowercase();
        rest = rest[length..].trim_start();
        let mut value = String::new();
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
            (value, rest) = match quote {
                Some(quote) => {
                    let quoted = &after[1..];
                    let end = quoted.find(quote).unwrap_or(quoted.len());
                    (quoted[..end].to_owned(), quoted.get(end + 1..).unwrap_or(""))
                }
                None => {
                    let end =
                        after.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(after.len());
                    (after[..end].to_owned(), &after[end..])
                }
            };
        }
        attributes.push((name, value.replace("&amp;", "&")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &[(Option<&str>, bool)]) {
        let scripts = read(html).scripts;
        let found: Vec<_> = scripts.iter().map(|script| (script.src.as_deref(), script.is_cors)).collect();
        assert_eq!(found, expected, "{html}");
    }

    #[test]
    fn scripts_are_found() {
        check("<script src=/a.js></script>", &[(Some("/a.js"), false)]);
        check("<SCRIPT SRC='a.js?b&amp;c' CrossOrigin>", &[(Some("a.js?b&c"), true)]);
        check("<script type=module src=\"a.js\"/>", &[(Some("a.js"), true)]);
        check(
            "<script>if (a < b) '<script src=no>'</script><script src=yes>",
            &[(None, false), (Some("yes"), false)],
        );
        check("<script type=application/json src=no></script>", &[]);
        check("<!-- <script src=no> --><template><script src=no></script></template>", &[]);
        check("<link rel=preload href=a.js as=script><scripts src=no>", &[]);
        check("<title></TITLE><script\n\tasync src = \"a.js\" >", &[(Some("a.js"), false)]);
        let page = read("<base href='/b/'><meta HTTP-EQUIV=Document-Policy content=js-profiling>");
        assert_eq!(
            (page.base.as_deref(), &page.equivalents[..]),
            (Some("/b/"), &["document-policy".to_owned()][..])
        );
    }

    #[test]
    fn hostile_pages_end() {
        for part in [
            "<",
            "<!--",
            "<script",
            "<a b=",
            "<script ",
            "<a ='",
            "<style>",
            "</",
            "<é",
            "<a é=é>",
            "<a\u{a0}=x",
        ] {
            let _ = read(part);
            let _ = read(&part.repeat(20_000));
        }
    }
}
