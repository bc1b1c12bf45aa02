//! The lines of an envelope: a header, then for each item a header and its content.

use serde::Deserialize;

/// What the first line says.
#[derive(Debug, Default, Deserialize)]
pub struct Header {
    /// The envelope's id.
    #[serde(default)]
    pub event_id: Option<String>,
}

/// An item.
#[derive(Debug)]
pub struct Item<'a> {
    pub header: ItemHeader,
    pub payload: &'a [u8],
}

/// What the line before an item's content says.
#[derive(Debug, Deserialize)]
pub struct ItemHeader {
    /// Its type, such as `profile_chunk`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The bytes of its content; without it, the content ends with the line.
    #[serde(default)]
    length: Option<usize>,
}

/// Bytes that are not an envelope.
#[derive(Debug, thiserror::Error)]
pub enum NotAnEnvelope {
    /// A line.
    #[error("this is not an envelope: line {0} is not the header of {1}: {2}")]
    Header(usize, &'static str, serde_json::Error),
    /// The content of an item.
    #[error("this is not an envelope: it ends within item {0}")]
    Short(usize),
    /// More items than one page ever has.
    #[error("the envelope has more than {MAX_ITEMS} items")]
    Items,
}

/// Items in one envelope. Sentry allows a hundred of most types.
const MAX_ITEMS: usize = 1_000;

/// Reads an envelope.
pub fn read(bytes: &[u8]) -> Result<(Header, Vec<Item<'_>>), NotAnEnvelope> {
    let (line, mut rest) = first_line(bytes);
    let header =
        serde_json::from_slice(line).map_err(|error| NotAnEnvelope::Header(1, "the envelope", error))?;
    let mut items = Vec::new();
    let mut lines = 1;
    while !rest.trim_ascii_start().is_empty() {
        // Empty lines between items do no harm.
        rest = rest.trim_ascii_start();
        if items.len() == MAX_ITEMS {
            return Err(NotAnEnvelope::Items);
        }
        let (line, after) = first_line(rest);
        lines += 1;
        let header: ItemHeader =
            serde_json::from_slice(line).map_err(|error| NotAnEnvelope::Header(lines, "an item", error))?;
        let payload;
        (payload, rest) = match header.length {
            Some(length) => after.split_at_checked(length).ok_or(NotAnEnvelope::Short(items.len() + 1))?,
            None => first_line(after),
        };
        lines += 1;
        items.push(Item { header, payload });
    }
    Ok((header, items))
}

fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_end_with_their_line_or_their_length() {
        #[track_caller]
        fn check(envelope: &str, expected: &[(&str, &str)]) {
            let (_, items) = read(envelope.as_bytes()).unwrap();
            let items: Vec<_> = items
                .iter()
                .map(|item| (item.header.kind.as_str(), std::str::from_utf8(item.payload).unwrap()))
                .collect();
            assert_eq!(items, expected);
        }
        check("{}", &[]);
        check("{\"event_id\":\"a\"}\n", &[]);
        check("{}\n{\"type\":\"event\"}\n{\"a\":1}\n", &[("event", "{\"a\":1}")]);
        check("{}\n{\"type\":\"a\",\"length\":3}\n1\n2\n{\"type\":\"b\"}\n3", &[("a", "1\n2"), ("b", "3")]);
        check("{}\n{\"type\":\"a\",\"length\":0}\n\n{\"type\":\"b\"}\n", &[("a", ""), ("b", "")]);
    }

    #[test]
    fn what_is_no_envelope_is_an_error() {
        #[track_caller]
        fn check(envelope: &str, expected: &str) {
            let error = read(envelope.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        check("", "line 1 is not the header of the envelope");
        check("5\n", "line 1");
        check("{}\nx\n", "line 2 is not the header of an item");
        check("{}\n{\"length\":1}\n", "missing field `type`");
        check("{}\n{\"type\":\"a\",\"length\":9}\n1", "ends within item 1");
        check("{}\n{\"type\":\"a\",\"length\":-1}\n1", "line 2");
        check(&format!("{{}}\n{}", "{\"type\":\"a\"}\n1\n".repeat(1_001)), "more than 1000 items");
    }
}
