//! Which inputs the URLs in pages lead to.

use std::collections::HashMap;
use std::path::Path;

use super::inputs::Input;
use super::urls::{has_host, joined, url_of};

/// The places of the inputs, to find what URLs in pages lead to.
#[derive(Debug)]
pub struct Places<'a>(HashMap<&'a str, usize>);

/// What a URL in a page leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The index of the input.
    pub index: usize,
    /// What comes before its place in the URL: `/`, `../` or nothing, for example.
    pub base: String,
}

/// Where a URL leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    Input(Target),
    /// To a file of the same site that is no input.
    Missing,
    /// To another site, or to no file.
    Elsewhere,
}

impl<'a> Places<'a> {
    pub fn of(files: &'a [Input]) -> Self {
        Self(
            files
                .iter()
                .enumerate()
                .filter_map(|(index, file)| Some((file.place.to_str()?, index)))
                .collect(),
        )
    }

    /// Resolves a URL in the page at a place, with the URL in its `<base>`.
    ///
    /// The inputs may lie deeper in the site: `/shop/assets/app.js` is `assets/app.js` of the inputs, if there is
    /// nothing else.
    pub fn resolve(&self, url: &str, page: &Path, base: Option<&str>) -> Resolved {
        let base = base.map(str::trim);
        let url = url.trim();
        let end = url.find(['?', '#']).unwrap_or(url.len());
        let is_relative = !url.starts_with('/');
        if has_host(url) || end == 0 || is_relative && base.is_some_and(has_host) {
            return Resolved::Elsewhere;
        }
        let base =
            base.filter(|_| is_relative).map(|base| &base[..base.find(['?', '#']).unwrap_or(base.len())]);
        let folder = base.map_or("", |base| base.rsplit_once('/').map_or("", |(folder, _)| folder));
        let path = match base {
            Some(base) if base.contains('/') => format!("{folder}/{}", &url[..end]),
            _ => url[..end].to_owned(),
        };
        if path.starts_with('/') {
            return self.resolve_absolute(&path);
        }
        let depth = page.parent().map_or(0, |folder| folder.components().count());
        let folder = page.parent().and_then(Path::to_str).unwrap_or_default();
        let Some(place) = joined(folder, &path) else { return Resolved::Missing };
        match self.0.get(place.as_str()) {
            // From another base the page is not where it seems.
            Some(&index) => Resolved::Input(Target { index, base: "../".repeat(depth) }),
            None => Resolved::Missing,
        }
    }

    fn resolve_absolute(&self, path: &str) -> Resolved {
        let Some(place) = joined("", path) else { return Resolved::Missing };
        let mut starts = std::iter::once(0).chain(place.match_indices('/').map(|(at, _)| at + 1)).take(32);
        let found = starts.find_map(|start| Some((start, *self.0.get(&place[start..])?)));
        match found {
            Some((start, index)) => {
                let base = format!("/{}", url_of(Path::new(&place[..start])));
                Resolved::Input(Target { index, base })
            }
            None => Resolved::Missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::files::inputs::Kind;

    #[test]
    fn urls_lead_to_inputs() {
        let places = ["a b.js", "assets/app.js", "deep/page/x.js", "é.js"];
        let files: Vec<Input> = places
            .iter()
            .map(|place| Input {
                source: PathBuf::from(place),
                place: PathBuf::from(place),
                kind: Kind::Script,
                is_named: false,
                is_selected: true,
                first_id: 0,
            })
            .collect();
        let places = Places::of(&files);
        #[track_caller]
        fn check(
            places: &Places<'_>,
            page: &str,
            base: Option<&str>,
            url: &str,
            expected: Option<(usize, &str)>,
        ) {
            let found = match places.resolve(url, Path::new(page), base) {
                Resolved::Input(Target { index, base }) => Some((index, base)),
                _ => None,
            };
            assert_eq!(found, expected.map(|(index, base)| (index, base.to_owned())), "{url}");
        }
        check(&places, "index.html", None, "assets/app.js", Some((1, "")));
        check(&places, "index.html", None, " ./assets/app.js?v=1#x\n", Some((1, "")));
        check(&places, "index.html", None, "/assets/app.js", Some((1, "/")));
        check(&places, "index.html", None, "/my%20shop/assets/app.js", Some((1, "/my%20shop/")));
        check(&places, "index.html", None, "a%20b.js", Some((0, "")));
        check(&places, "index.html", None, "%C3%A9.js", Some((3, "")));
        check(&places, "deep/page/index.html", None, "x.js", Some((2, "../../")));
        check(&places, "deep/page/index.html", None, "../../assets/app.js", Some((1, "../../")));
        check(&places, "deep/page/index.html", Some("/assets/"), "app.js", Some((1, "/")));
        check(&places, "deep/page/index.html", Some("../../"), "assets/app.js", Some((1, "../../")));
        check(&places, "index.html", Some("https://cdn.test/"), "assets/app.js", None);
        for url in [
            "https://cdn.test/assets/app.js",
            "//cdn.test/assets/app.js",
            "data:text/javascript,1",
            "",
            "?x",
            "../../a b.js",
            "%FF.js",
            "b.js",
        ] {
            check(&places, "index.html", None, url, None);
        }
    }
}
