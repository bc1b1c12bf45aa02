//! Reads the tags of a document, as far as needed to see what kind of test it is.

/// A start tag.
#[derive(Debug, PartialEq, Eq)]
pub struct Tag {
    /// In lower case.
    pub name: String,
    /// Names in lower case.
    pub attributes: Vec<(String, String)>,
}

impl Tag {
    /// The value of an attribute.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The text between `<` and `>` of start tags, without comments. The text of a script may look like tags, but no test
/// has a string in it that looks like one that loads testharness.js.
pub fn tags(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find('<')? + 1;
            rest = &rest[start..];
            if let Some(comment) = rest.strip_prefix("!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            let end = end_of_tag(rest);
            let tag = &rest[..end];
            rest = &rest[end..];
            return Some(tag);
        }
    })
}

/// A `>` within quotes does not end a tag.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '>' => return at,
            None if (c == '"' || c == '\'') && text[..at].trim_end().ends_with('=') => quote = Some(c),
            None => {}
        }
    }
    text.len()
}

/// Parses a tag.
pub fn attributes(tag: &str) -> Tag {
    let is_end = |c: char| c.is_ascii_whitespace() || c == '/';
    let (name, mut rest) = tag.split_at(tag.find(is_end).unwrap_or(tag.len()));
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(is_end);
        if rest.is_empty() {
            break;
        }
        // In HTML, a name may begin with an equals sign, so the first character always belongs to the name.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find(|c| is_end(c) || c == '=').map_or(rest.len(), |at| at + first);
        let key = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'');
            let (open, close) = match quote {
                Some(quote) => (1, after[1..].find(quote).map_or(after.len(), |at| at + 1)),
                None => (0, after.find(|c: char| c.is_ascii_whitespace()).unwrap_or(after.len())),
            };
            value = &after[open..close];
            rest = after.get(close + open..).unwrap_or_default();
        }
        attributes.push((key, value.replace("&amp;", "&")));
    }
    Tag { name: name.to_ascii_lowercase(), attributes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &[(&str, &str)])]) {
        let found: Vec<Tag> = tags(text).map(attributes).collect();
        let expected: Vec<Tag> = expected
            .iter()
            .map(|(name, attributes)| Tag {
                name: (*name).to_owned(),
                attributes: attributes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn tags_and_their_attributes() {
        check("<a><B c></B><d/>", &[("a", &[]), ("b", &[("c", "")]), ("d", &[])]);
        check(
            "<a b=c d='e > f' g=\"h\" i = j/>",
            &[("a", &[("b", "c"), ("d", "e > f"), ("g", "h"), ("i", "j/")])],
        );
        check("<!-- <a> --><b><!-- <c>", &[("b", &[])]);
        check("1 < 2 <a b='?x=1&amp;y'>", &[("a", &[("b", "?x=1&y")])]);
        check("<a b='", &[("a", &[("b", "")])]);
        check("<a ==b é=è", &[("a", &[("=", "b"), ("é", "è")])]);
    }
}
