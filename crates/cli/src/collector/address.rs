//! URLs of a collector's page and API.

use std::borrow::Cow;
use std::path::Path;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use selfprof_http::Url;

use crate::failure::Failure;
use crate::urls;

/// A URL of a collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// What comes before `/api`: the scheme, the host and perhaps a path.
    pub root: Url,
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

impl Address {
    /// The URL of a collector that stands in the place of a file; `None` for a file, here or on a server.
    pub fn of(path: &Path) -> Result<Option<Self>, Failure> {
        let Some(url) = urls::of_argument(path)? else { return Ok(None) };
        let query = url.query().unwrap_or_default();
        let selection = Selection::of_api(query);
        if selection.app.is_empty() {
            return Ok(None);
        }
        let (prefix, what) = match url.path().split_once(API) {
            Some((prefix, question)) => (prefix, of_question(question, query, selection)?),
            None => (url.path().trim_end_matches('/'), What::Selection(Selection::of_page(query))),
        };
        let mut root = url.clone();
        root.set_query(None);
        root.set_fragment(None);
        root.set_path(prefix);
        Ok(Some(Self { root, what }))
    }

    /// Whether it stands for a sum of profiles.
    pub fn is_selection(&self) -> bool {
        matches!(self.what, What::Selection(_))
    }

    /// Host and port, for messages.
    pub fn authority(&self) -> &str {
        self.root.authority().rsplit('@').next().unwrap_or_default()
    }

    /// The URL of a path of the API, which begins with [`API`] and may have a query.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.root.clone();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        url.set_path(&format!("{}{path}", self.root.path().trim_end_matches('/')));
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        url
    }
}

fn of_question(question: &str, query: &str, selection: Selection) -> Result<What, Failure> {
    match question.split_once('/') {
        Some(("profiles", id)) => {
            Ok(What::Profile { path: format!("{API}{question}?{query}"), id: id.to_owned() })
        }
        None if matches!(question, "functions" | "flamegraph" | "profiles") => Ok(What::Selection(selection)),
        _ => Err(Failure::usage(format!("{API}{question} does not name any profiles")).hint(
            "such a URL is http://127.0.0.1:4319/?app=shop&release=1.4, or one of the collector's page",
        )),
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
            let (id, path) = match &address.what {
                What::Profile { path, id } => (format!("{id} "), path.clone()),
                What::Selection(selection) => (String::new(), selection.path("functions", &[("top", "0")])),
            };
            assert_eq!(format!("{id}{}", address.url(&path)), expected);
        }
        check("http://a:1/?app=shop", "http://a:1/api/v1/functions?app=shop&top=0");
        check("http://a?app=shop", "http://a/api/v1/functions?app=shop&top=0");
        check(
            "http://a:1/p/?app=shop&from=-1d&view=compare&search=x#y",
            "http://a:1/p/api/v1/functions?app=shop&from=%2D1d&top=0",
        );
        check(
            "http://a/?app=shop&release=1.4&page=%2Fcart&where=span+%3D+'x'",
            "http://a/api/v1/functions?app=shop&where=release%20%3D%20%271%2E4%27%20and%20page%20%3D%20%27%2Fcart%27%20and%20%28span%20%3D%20%27x%27%29&top=0",
        );
        check(
            "http://a/?app=shop&where=release = '1'",
            "http://a/api/v1/functions?app=shop&where=release%20%3D%20%271%27&top=0",
        );
        check(
            "http://a/?app=shop&to=2026-11-23",
            "http://a/api/v1/functions?app=shop&to=2026%2D11%2D23T23%3A59%3A59%2E999999Z&top=0",
        );
        check(
            "http://a/p/api/v1/flamegraph?app=shop&to=2026-11-23&release=1",
            "http://a/p/api/v1/functions?app=shop&to=2026%2D11%2D23&top=0",
        );
        check("http://a/api/v1/profiles/0a?app=shop", "0a http://a/api/v1/profiles/0a?app=shop");
    }

    #[test]
    fn other_urls_are_errors() {
        #[track_caller]
        fn check(url: &str, expected: &str) {
            let failure = Address::of(Path::new(url)).unwrap_err().to_string();
            assert!(failure.contains(expected), "{failure}");
        }
        check("http:///?app=shop", "is not a URL");
        check("http://a/api/v1/apps?app=shop", "does not name any profiles");
    }

    #[test]
    fn urls_without_an_application_are_files() {
        for file in ["a.json", "-", "https://a/", "https://a/trace.json?b=c", "https://a/api/v1/profiles/7"] {
            assert_eq!(Address::of(Path::new(file)).unwrap(), None, "{file}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        let address = Address::of(Path::new("https://me:secret@a:1/p/?app=shop")).unwrap().unwrap();
        assert_eq!(address.authority(), "a:1");
        assert_eq!(address.url("/api/v1/x?y").as_str(), "https://me:secret@a:1/p/api/v1/x?y");
    }
}
