//! Links from scripts to their source maps.

use std::ops::Range;
use std::path::{Path, PathBuf};

use selfprof_source_maps::{Comments, json_of_data_url};

use crate::files::urls::{has_host, joined};

/// At most this many comments at the end of a script are removed.
const MAX_COMMENTS: usize = 8;

/// A comment that links a script to its map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapLink {
    /// The URL of the map.
    pub url: String,
    /// Where the comment is, from `//` to the end of the URL.
    pub comment: Range<usize>,
}

/// The comment at the end of a script that links it to its map. It is followed by nothing but comments, so it is in no
/// string.
pub fn link(code: &str) -> Option<MapLink> {
    let url = Comments::of(code).mapping_url?;
    let start = url.as_ptr() as usize - code.as_ptr() as usize;
    let is_comment = |line: &str| line.trim().is_empty() || line.trim_start().starts_with("//");
    if !code[start + url.len()..].lines().all(is_comment) {
        return None;
    }
    let comment = code[..start].rfind("//")?;
    Some(MapLink { url: url.to_owned(), comment: comment..start + url.len() })
}

/// Removes the links at the end of a script, because they lead to a map of another text. All else stays where it is.
pub fn remove(code: &mut String) {
    for _ in 0..MAX_COMMENTS {
        let Some(link) = link(code) else { return };
        code.replace_range(link.comment, "");
    }
}

/// The map in the URL itself, if it is there.
pub fn inline_map(url: &str) -> Option<Result<Vec<u8>, String>> {
    url.starts_with("data:").then(|| json_of_data_url(url).map_err(|error| error.to_string()))
}

/// The path of a map, from the root of the site, for the script at another path; `None` if it is elsewhere.
pub fn place(url: &str, script: &Path) -> Option<PathBuf> {
    let path = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    if has_host(path) {
        return None;
    }
    let folder = script.parent().filter(|_| !path.starts_with('/')).unwrap_or(Path::new(""));
    joined(folder.to_str()?, path).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_at_the_end_are_removed() {
        #[track_caller]
        fn check(code: &str, url: Option<&str>, expected: &str) {
            assert_eq!(link(code).map(|link| link.url).as_deref(), url, "{code}");
            let mut text = code.to_owned();
            remove(&mut text);
            assert_eq!(text, expected);
        }
        check("a()", None, "a()");
        check("a()\n//# sourceMappingURL=a.js.map\n", Some("a.js.map"), "a()\n\n");
        check("a()//@ sourceMappingURL=a.map", Some("a.map"), "a()");
        check(
            "a()\n//# sourceMappingURL=a\n//# sourceMappingURL=b\n//# debugId=1\n",
            Some("b"),
            "a()\n\n\n//# debugId=1\n",
        );
        check("`\n//# sourceMappingURL=a\n`", None, "`\n//# sourceMappingURL=a\n`");
        check("//# sourceMappingURL=a\nb()", None, "//# sourceMappingURL=a\nb()");
    }

    #[test]
    fn maps_have_places() {
        #[track_caller]
        fn check(url: &str, expected: Option<&str>) {
            assert_eq!(place(url, Path::new("assets/app.js")), expected.map(PathBuf::from), "{url}");
        }
        check("app.js.map?v=1", Some("assets/app.js.map"));
        check("../maps/a%20b.map", Some("maps/a b.map"));
        check("/maps/./a.map", Some("maps/a.map"));
        check("../../a.map", None);
        check("https://maps.test/a.map", None);
        check("//maps.test/a.map", None);
    }
}
