//! What is taken from the texts of a sender: URLs without query, fragment and user, nothing longer than a limit, and no
//! control characters.

use url::Url;

/// The longest text that is kept, in bytes. Longer ones are cut.
pub const MAX_TEXT: usize = 512;

/// Cuts a text at a limit and replaces control characters.
pub fn clean_text(text: &str) -> String {
    let text = text.trim();
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// A URL without its query, its fragment, and a user's name and password, which may be private. Anything else is kept
/// as text, up to a `?` or `#`. Of a `data:` URL, which may be a whole program, only the type is kept.
pub fn clean_url(text: &str) -> String {
    match Url::parse(text.trim()) {
        Ok(url) if url.scheme() == "data" => {
            clean_text(url.as_str().split([',', ';']).next().unwrap_or("data:"))
        }
        Ok(mut url) if url.has_host() => {
            url.set_query(None);
            url.set_fragment(None);
            // Fails only for URLs without a host, which have neither.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            clean_text(url.as_str())
        }
        _ => clean_text(text.split(['?', '#']).next().unwrap_or("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lose_what_may_be_private() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            assert_eq!(clean_url(url), expected);
        }
        check("https://a.example/cart?token=1#x", "https://a.example/cart");
        check("https://me:secret@a.example/", "https://a.example/");
        check("/cart?token=1", "/cart");
        check("/cart#secret", "/cart");
        check("data:text/javascript,let%20key=1", "data:text/javascript");
        check("data:text/javascript;base64,AAAA", "data:text/javascript");
        check("blob:https://a.example/5f?x", "blob:https://a.example/5f");
        check("app.js", "app.js");
        check("", "");
        check("node:fs", "node:fs");
        check("file:///srv/a.js?x", "file:///srv/a.js");
    }

    #[test]
    fn texts_are_cut_at_characters() {
        assert_eq!(clean_text("a\u{0}b\n"), "a\u{fffd}b");
        let long = "ü".repeat(MAX_TEXT);
        let cut = clean_text(&long);
        assert!(cut.len() <= MAX_TEXT && long.starts_with(&cut));
        assert_eq!(clean_text(&"x".repeat(MAX_TEXT)).len(), MAX_TEXT);
    }
}
