//! Maps in `data:` URLs ([RFC 2397](https://www.rfc-editor.org/rfc/rfc2397), as the
//! [Fetch standard](https://fetch.spec.whatwg.org/#data-urls) reads them).

use std::borrow::Cow;

use data_encoding::{Encoding, Specification};
use percent_encoding::percent_decode;

use crate::map_error::{MAX_BYTES, MapError};

/// The bytes in a `data:` URL, which should be JSON. They are not checked.
pub fn json_of_data_url(url: &str) -> Result<Vec<u8>, MapError> {
    if url.len() > MAX_BYTES {
        return Err(MapError::TooLong);
    }
    let invalid = |reason: &str| MapError::Invalid(format!("its data: URL {reason}"));
    let scheme = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let rest = scheme.map(|_| &url[5..]).ok_or_else(|| invalid("does not begin with \"data:\""))?;
    let rest = rest.split('#').next().unwrap_or_default();
    let (kind, data) = rest.split_once(',').ok_or_else(|| invalid("has no comma"))?;
    let data: Cow<'_, [u8]> = percent_decode(data.as_bytes()).into();
    let last = kind.rsplit(';').next().unwrap_or_default();
    if kind.len() == last.len() || !last.trim().eq_ignore_ascii_case("base64") {
        return Ok(data.into_owned());
    }
    // Padding is optional, and bits after the last byte have no meaning.
    let text: Vec<u8> = data.into_owned().into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    base64()
        .and_then(|encoding| encoding.decode(&text[..end]).ok())
        .ok_or_else(|| invalid("has data that is not base64"))
}

/// The alphabet of base64, without padding. `-` and `_` are those of URLs.
fn base64() -> Option<Encoding> {
    let mut specification = Specification::new();
    specification.symbols.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    specification.translate.from.push_str("-_");
    specification.translate.to.push_str("+/");
    specification.check_trailing_bits = false;
    specification.encoding().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            assert_eq!(
                json_of_data_url(url).map(|json| String::from_utf8(json).unwrap()),
                Ok(expected.to_owned())
            );
        }
        check("data:application/json;base64,e30=", "{}");
        check("data:application/json;charset=utf-8;base64,e30", "{}");
        check("DATA:Application/JSON; charset=\"utf-8\" ; Base64 ,e30%3D", "{}");
        check("data:;base64,e%0A3 0=#fragment", "{}");
        check("data:application/json,%7B%22a%22:1%7d", "{\"a\":1}");
        check("data:,{\"a\":'%'}", "{\"a\":'%'}");
        check("data:text/plain;charset=utf-8,{}", "{}");
        check("data:base64,{}", "{}");
        check("data:;base64,fn5-Pz8_", "~~~???");
        check("data:;base64,", "");
    }

    #[test]
    fn errors_have_a_reason() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            assert_eq!(json_of_data_url(url).unwrap_err().to_string(), format!("its data: URL {expected}"));
        }
        check("", "does not begin with \"data:\"");
        check("https://host/a.map", "does not begin with \"data:\"");
        check("data:application/json", "has no comma");
        check("data:;base64,%%%", "has data that is not base64");
        check("data:;base64,e", "has data that is not base64");
        check("data:;base64,é", "has data that is not base64");
    }
}
