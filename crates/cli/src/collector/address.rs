//! URLs of a collector's page and API.

use std::borrow::Cow;
use std::path::Path;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::failure::Failure;

/// A URL of a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Host and port.
    pub authority: String,
    /// The path before `/api` or the page, without a slash at the end.
    pub prefix: String,
    pub what: What,
}

/// What a URL stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A profile: its path with the query, and its id.
    Profile { path: String, id: String },
    /// All profiles and samples that a filter selects.
    Selection(Selection),
}

/// Which profiles and samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub app: String,
    /// The period. Empty for the collector's default.
    pub from: String,
    pub to: String,
    /// The condition; empty for all.
    pub filter: String,
}

/// The columns that the page has a list for.
const COLUMNS: [&str; 6] = ["release", "page", "browser", "device", "environment", "span"];

/// The beginning of the API's paths.
const API: &str = "/api/v1/";

/// Whether a path on the command line is a URL.
pub fn is_url(path: &Path) -> bool {
    let text = path.to_string_lossy();
    ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
}

impl Address {
    /// The URL that stands in the place of a file; `None` for a file.
    pub fn of(path: &Path) -> Result<Option<Self>, Failure> {
        if !is_url(path) {
            return Ok(None);
        }
        let text = path.to_string_lossy();
        let Some(rest) = text.strip_prefix("http://") else {
            return Err(Failure::usage(format!("cannot ask {text}: selfprof has no TLS")).hint(
                "ask the collector on its machine, or through `ssh -L 4319:127.0.0.1:4319 HOST`, by http://127.0.0.1:4319",
            ));
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        if authority.is_empty() || authority.contains('@') {
            return Err(Failure::usage(format!("{text} is not the URL of a collector")).hint(EXAMPLE));
        }
        let (prefix, what) = match path.find(API) {
            Some(begin) => {
                let question = &path[begin + API.len()..];
                (&path[..begin], of_question(question, &path[begin..], query)?)
            }
            None => (path.trim_end_matches('/'), What::Selection(Selection::of_page(query))),
        };
        if let What::Selection(Selection { app, .. }) = &what
            && app.is_empty()
        {
            return Err(Failure::usage(format!("{text} names no application")).hint(EXAMPLE));
        }
        Ok(Some(Self { authority: authority.to_owned(), prefix: prefix.to_owned(), what }))
    }
}

impl Address {
    /// Whether it stands for a sum of profiles.
    pub fn is_selection(&self) -> bool {
        matches!(self.what, What::Selection(_))
    }
}

const EXAMPLE: &str =
    "such a URL is http://127.0.0.1:4319/?app=shop&release=1.4, or one of the collector's page";

fn of_question(question: &str, path: &str, query: &str) -> Result<What, Failure> {
    match question.split_once('/') {
        Some(("profiles", id)) => {
            let path = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
            Ok(What::Profile { path, id: id.to_owned() })
        }
        None if matches!(question, "functions" | "flamegraph" | "profiles") => {
            Ok(What::Selection(Selection::of_api(query)))
        }
        _ => Err(Failure::usage(format!("{path} does not name any profiles")).hint(EXAMPLE)),
    }
}

/// The members of a query, decoded.
fn members(query: &str) -> Vec<(Cow<'_, str>, String)> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let member = |member: &str| {
        let (name, value) = member.split_once('=').unwrap_or((member, ""));
        (Cow::Owned(decoded(name)), decoded(value))
    };
    query.split('&').filter(|member| !member.is_empty()).map(member).collect()
}

impl Selection {
    fn of_api(query: &str) -> Self {
        let mut selection = Self::default();
        for (name, value) in members(query) {
            match &*name {
                "app" => selection.app = value,
                "from" => selection.from = value,
                "to" => selection.to = value,
                "where" => selection.filter = value,
                _ => {}
            }
        }
        selection
    }

    /// The page has a list for some columns, and its last day counts.
    fn of_page(query: &str) -> Self {
        let mut selection = Self::of_api(query);
        let members = members(query);
        let is_day = |text: &str| text.len() == 10 && text.bytes().filter(|&byte| byte == b'-').count() == 2;
        if is_day(&selection.to) {
            selection.to += "T23:59:59.999999Z";
        }
        let values = COLUMNS.iter().filter_map(|column| {
            let (_, value) = members.iter().find(|(name, _)| name == column)?;
            Some(format!("{column} = '{}'", value.replace('\'', "''")))
        });
        let mut conditions: Vec<String> = values.collect();
        if !conditions.is_empty() {
            if !selection.filter.trim().is_empty() {
                conditions.push(format!("({})", selection.filter));
            }
            selection.filter = conditions.join(" and ");
        }
        selection
    }

    /// The path of a question about it, with further members of the query.
    pub fn path(&self, question: &str, further: &[(&str, &str)]) -> String {
        let own = [("app", &*self.app), ("from", &*self.from), ("to", &*self.to), ("where", &*self.filter)];
        let members = own.iter().chain(further).filter(|(_, value)| !value.is_empty());
        let members =
            members.map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
        format!("{API}{question}?{}", members.collect::<Vec<_>>().join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_stand_for_profiles() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            let address = Address::of(Path::new(url)).unwrap().unwrap();
            let shown = match &address.what {
                What::Profile { path, id } => format!("{id} {path}"),
                What::Selection(selection) => selection.path("functions", &[("top", "0")]),
            };
            assert_eq!(format!("{}{} {shown}", address.authority, address.prefix), expected);
        }
        check("http://a:1/?app=shop", "a:1 /api/v1/functions?app=shop&top=0");
        check("http://a?app=shop", "a /api/v1/functions?app=shop&top=0");
        check(
            "http://a:1/p/?app=shop&from=-1d&view=compare&search=x#y",
            "a:1/p /api/v1/functions?app=shop&from=%2D1d&top=0",
        );
        check(
            "http://a/?app=shop&release=1.4&page=%2Fcart&where=span+%3D+'x'",
            "a /api/v1/functions?app=shop&where=release%20%3D%20%271%2E4%27%20and%20page%20%3D%20%27%2Fcart%27%20and%20%28span%20%3D%20%27x%27%29&top=0",
        );
        check(
            "http://a/?app=shop&where=release = '1'",
            "a /api/v1/functions?app=shop&where=release%20%3D%20%271%27&top=0",
        );
        check(
            "http://a/?app=shop&to=2026-11-23",
            "a /api/v1/functions?app=shop&to=2026%2D11%2D23T23%3A59%3A59%2E999999Z&top=0",
        );
        check(
            "http://a/p/api/v1/flamegraph?app=shop&to=2026-11-23&release=1",
            "a/p /api/v1/functions?app=shop&to=2026%2D11%2D23&top=0",
        );
        check("http://a/api/v1/profiles/0a?app=shop", "a 0a /api/v1/profiles/0a?app=shop");
    }

    #[test]
    fn other_urls_are_errors() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            let failure = Address::of(Path::new(url)).unwrap_err().to_string();
            assert!(failure.contains(expected), "{failure}");
        }
        check("https://a/?app=shop", "no TLS");
        check("http://a/", "names no application");
        check("http:///?app=shop", "not the URL of a collector");
        check("http://me:secret@a/?app=shop", "not the URL of a collector");
        check("http://a/api/v1/apps", "does not name any profiles");
        assert_eq!(Address::of(Path::new("a.json")).unwrap(), None);
        assert_eq!(Address::of(Path::new("-")).unwrap(), None);
    }
}
