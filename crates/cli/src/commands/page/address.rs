//! The page to load: a URL or a file.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The URL schemes that pages can be loaded from.
const SCHEMES: [&str; 5] = ["http", "https", "file", "data", "about"];

/// The address of a page.
#[derive(Debug, PartialEq, Eq)]
pub enum Address {
    Url(String),
    File(PathBuf),
}

impl Address {
    /// Parses the argument: the path of an existing file, or a URL.
    pub fn parse(typed: &str) -> Result<Self, Failure> {
        let path = Path::new(typed);
        if path.is_dir() {
            return Err(Failure::usage(format!("{typed} is a directory"))
                .hint(format!("give the path of a file, e.g. {}", path.join("index.html").display())));
        }
        if path.exists() {
            return Ok(Self::File(path.to_owned()));
        }
        let scheme = typed.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme {
            Some(scheme) if SCHEMES.contains(&scheme.as_str()) => Ok(Self::Url(typed.to_owned())),
            // `example.com/a`, `localhost:8000`
            _ if looks_like_host(typed) => Err(Failure::usage(format!("no such file: {typed}"))
                .hint(format!("a URL begins with a scheme; did you mean http://{typed}?"))),
            Some(scheme) if typed.contains("://") => {
                Err(Failure::usage(format!("cannot load pages from {scheme}: URLs"))
                    .hint(format!("supported are {} and the path of a file", SCHEMES.join(", "))))
            }
            _ => Err(Failure::usage(format!("no such file: {typed}"))
                .hint("a page is a URL or a file, e.g. `selfprof page https://example.com/`")),
        }
    }

    /// The URL or path that the page host loads.
    pub fn url(&self) -> String {
        match self {
            Self::Url(url) => url.clone(),
            Self::File(path) => path.to_string_lossy().into_owned(),
        }
    }

    /// The name of the page's trace: the file, or the host of the URL.
    pub fn name(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Url(url) => {
                let rest = url.split_once("://").map_or("", |(_, rest)| rest);
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                let host: String =
                    host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
                PathBuf::from(if host.is_empty() { "page".to_owned() } else { host })
            }
        }
    }
}

/// Whether the text looks like a URL without its scheme: `name:port`, or `name.tld/`.
fn looks_like_host(typed: &str) -> bool {
    let (host, rest) = typed.find(['/', ':']).map_or((typed, ""), |end| typed.split_at(end));
    let is_name = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    let has_port = rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_name && (has_port || (host.contains('.') && !host.starts_with('.') && rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_files_are_distinguished() {
        #[track_caller]
        fn check(typed: &str, expected: Option<Address>) {
            assert_eq!(Address::parse(typed).ok(), expected, "{typed}");
        }
        let url = |url: &str| Some(Address::Url(url.to_owned()));
        check("http://localhost:8000/", url("http://localhost:8000/"));
        check("HTTPS://example.com", url("HTTPS://example.com"));
        check("data:text/html,hi", url("data:text/html,hi"));
        check("about:blank", url("about:blank"));
        check("Cargo.toml", Some(Address::File("Cargo.toml".into())));
        check("src", None);
        check("localhost:8000", None);
        check("example.com/index.html", None);
        check("nowhere.html", None);
        check("ftp://example.com/", None);
    }

    #[test]
    fn traces_are_named_after_the_host() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            assert_eq!(Address::Url(url.to_owned()).name(), Path::new(expected));
        }
        check("https://example.com/a/b.html", "example-com");
        check("http://localhost:8000?x", "localhost-8000");
        check("data:text/html,../../x", "page");
    }
}
