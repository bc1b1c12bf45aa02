//! A checkout of the web-platform-tests, and which tests its files contain. The rules are those of the suite's own
//! manifest: <https://web-platform-tests.org/writing-tests/file-names.html>.

use super::markup::{Tag, attributes, tags};
use crate::problem::Problem;
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The time limit of a test in testharness.js.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Timeout {
    /// 10 seconds.
    Normal,
    /// A minute.
    Long,
}

/// One test: what a browser would load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Test {
    /// Path and query, without the first slash: `user-timing/mark.any.worker.html`.
    pub id: String,
    /// Its time limit.
    pub timeout: Timeout,
    /// Whether it is loaded over https.
    pub secure: bool,
    /// Whether it is known to take longer in the page host than in a browser.
    pub slow: bool,
    /// Why it can never run in the page host, if so.
    #[serde(skip)]
    pub unsupported: Option<&'static str>,
}

/// A checkout.
pub struct Suite {
    root: PathBuf,
}

/// Folders whose files are parts of tests and not tests themselves.
const NO_TESTS: [&str; 3] = ["resources", "support", "tools"];

/// The extensions of documents.
const DOCUMENTS: [&str; 5] = [".html", ".htm", ".xhtml", ".xht", ".svg"];

impl Suite {
    /// Opens a checkout, which may be a sparse one.
    pub fn open(folder: &Path) -> Result<Self> {
        let root = fs::canonicalize(folder)
            .map_err(|error| Problem::error(format!("{}: {error}", folder.display()), HOW_TO_GET))?;
        if !root.join("resources/testharness.js").is_file() {
            return Err(Problem::error(
                format!(
                    "{} is not a checkout of the web-platform-tests: it has no resources/testharness.js",
                    folder.display()
                ),
                HOW_TO_GET,
            ));
        }
        Ok(Self { root })
    }

    /// Its root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The tests that a name selects: a folder, a file, or a test as this command prints it. `name` is relative to
    /// the checkout, or a path into it.
    pub fn tests(&self, name: &str) -> Result<Vec<Test>> {
        let found = self.find(name)?;
        if found.is_empty() {
            return Err(Problem::error(
                format!("{name} contains no test"),
                "name a folder, a file, or a test as it is printed: user-timing/mark.any.worker.html",
            ));
        }
        Ok(found)
    }

    fn find(&self, name: &str) -> Result<Vec<Test>> {
        let inside = self.inside(name);
        let path = self.root.join(&inside);
        if path.is_dir() {
            let mut tests = Vec::new();
            for file in files_below(&path)? {
                tests.extend(self.tests_in(&file)?);
            }
            return Ok(tests);
        }
        if path.is_file() {
            return self.tests_in(&path);
        }
        let wanted = inside.to_string_lossy();
        let source = source_of(&wanted);
        let file = self.root.join(&source);
        if !file.is_file() {
            return Err(Problem::error(
                format!("{name} is not in {}", self.root.display()),
                "names are relative to the checkout: user-timing, hr-time/basic.any.js, \
                 user-timing/mark.any.worker.html; a sparse checkout may need `git sparse-checkout add`",
            ));
        }
        let mut tests = self.tests_in(&file)?;
        tests
            .retain(|test| test.id == wanted || (!wanted.contains('?') && without_query(&test.id) == wanted));
        Ok(tests)
    }

    /// A name as a path from the root. Paths into the checkout are accepted too, because shells complete them.
    fn inside(&self, name: &str) -> PathBuf {
        let path = Path::new(name);
        let known = fs::canonicalize(path).ok().filter(|path| path.starts_with(&self.root));
        let inside = match known {
            Some(path) => path.strip_prefix(&self.root).map(Path::to_owned).unwrap_or_default(),
            None => PathBuf::from(name.trim_start_matches('/')),
        };
        inside.components().collect()
    }

    fn tests_in(&self, file: &Path) -> Result<Vec<Test>> {
        let relative = file.strip_prefix(&self.root).unwrap_or(file);
        let path = relative.to_string_lossy().replace('\\', "/");
        if is_for_tests(&path) {
            return Ok(Vec::new());
        }
        let read = || {
            let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            Ok::<_, anyhow::Error>(String::from_utf8_lossy(&bytes).into_owned())
        };
        if path.ends_with(".any.js") || path.ends_with(".window.js") || path.ends_with(".worker.js") {
            return Ok(script_tests(&path, &read()?));
        }
        if DOCUMENTS.iter().any(|end| path.ends_with(end)) {
            return Ok(document_tests(&path, &read()?));
        }
        Ok(Vec::new())
    }
}

const HOW_TO_GET: &str = "--wpt names a checkout; one that is enough for the default tests:\n  \
    git clone --depth 1 --filter blob:none --sparse https://github.com/web-platform-tests/wpt\n  \
    git -C wpt sparse-checkout set resources common interfaces js-self-profiling user-timing hr-time performance-timeline";

fn without_query(id: &str) -> &str {
    id.split('?').next().unwrap_or(id)
}

fn is_for_tests(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or_default();
    let mut folders = parts.peekable();
    // Files at the top are not tests, and `common` there contains none.
    folders.peek().is_none()
        || name.starts_with('.')
        || path.starts_with("common/")
        || folders.any(|folder| NO_TESTS.contains(&folder))
}

/// The file that contains the test of this path.
fn source_of(id: &str) -> String {
    let path = without_query(id);
    if let Some((stem, rest)) = path.split_once(".any.")
        && rest.ends_with("html")
    {
        return format!("{stem}.any.js");
    }
    for kind in ["window", "worker"] {
        if let Some(stem) = path.strip_suffix(&format!(".{kind}.html")) {
            return format!("{stem}.{kind}.js");
        }
    }
    path.to_owned()
}

/// What the name of a file says about its tests.
fn named(path: &str, id: String, timeout: Timeout) -> Test {
    let flags: HashSet<&str> = path.rsplit('/').next().unwrap_or(path).split('.').skip(1).collect();
    let stem = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or_default();
    let unsupported = if flags.contains("h2") {
        Some("HTTP/2 is not supported here")
    } else if stem.ends_with("-manual") {
        Some("it is a manual test")
    } else if flags.contains("www") {
        Some("tests on another host than the main one are not loaded here")
    } else {
        None
    };
    let secure = flags.contains("https") || flags.contains("serviceworker");
    Test { id, timeout, secure, slow: false, unsupported }
}

fn script_tests(path: &str, text: &str) -> Vec<Test> {
    let metadata: Vec<(&str, &str)> = text.lines().map_while(metadata_line).collect();
    let values = |key: &'static str| metadata.iter().filter(move |(k, _)| *k == key).map(|(_, value)| *value);
    let timeout =
        if values("timeout").any(|value| value == "long") { Timeout::Long } else { Timeout::Normal };
    let stem = path.strip_suffix(".js").unwrap_or(path);
    let mut pages = Vec::new();
    if path.ends_with(".any.js") {
        let globals = values("global").next().unwrap_or("window,dedicatedworker");
        for global in globals.split(',').map(str::trim).filter(|global| !global.is_empty()) {
            pages.extend(pages_of_global(stem, global));
        }
        pages.sort();
        pages.dedup();
    } else {
        pages.push((format!("{stem}.html"), None));
    }
    let variants = or_none(values("variant").map(str::to_owned).collect());
    let mut tests = Vec::new();
    for (page, unsupported) in &pages {
        for variant in &variants {
            let test = named(path, format!("{page}{variant}"), timeout);
            tests.push(Test { unsupported: test.unsupported.or(*unsupported), ..test });
        }
    }
    tests
}

/// The variants of a test; a single empty one if it declares none.
fn or_none(variants: Vec<String>) -> Vec<String> {
    if variants.is_empty() { vec![String::new()] } else { variants }
}

fn metadata_line(line: &str) -> Option<(&str, &str)> {
    let (key, value) =
        line.strip_prefix("//")?.trim_start().strip_prefix("META:")?.trim_start().split_once('=')?;
    key.chars().all(|c| c.is_alphanumeric() || c == '_').then_some((key, value.trim()))
}

/// Documents, and why one cannot run.
fn pages_of_global(stem: &str, global: &str) -> Vec<(String, Option<&'static str>)> {
    const SHARED: Option<&str> = Some("the page host has no shared workers");
    const SERVICE: Option<&str> = Some("the page host has no service workers");
    const REALM: Option<&str> = Some("there are no ShadowRealms");
    let page = |name: &str, unsupported| (format!("{stem}.{name}.html"), unsupported);
    match global {
        "window" => vec![(format!("{stem}.html"), None)],
        "dedicatedworker" => vec![page("worker", None)],
        "dedicatedworker-module" => vec![page("worker-module", None)],
        "worker" => vec![page("worker", None), page("sharedworker", SHARED), page("serviceworker", SERVICE)],
        other if other.starts_with("sharedworker") => vec![page(other, SHARED)],
        other if other.starts_with("serviceworker") => vec![page(other, SERVICE)],
        other if other.starts_with("shadowrealm") => vec![page(other, REALM)],
        // `jsshell`, and `!` before a name, an old syntax.
        _ => Vec::new(),
    }
}

fn document_tests(path: &str, text: &str) -> Vec<Test> {
    let tags: Vec<Tag> = tags(text).map(attributes).collect();
    let named_tags = |name: &'static str| tags.iter().filter(move |tag| tag.name == name);
    let metadata = |name: &'static str| {
        named_tags("meta")
            .filter(move |tag| tag.value("name") == Some(name))
            .filter_map(|tag| tag.value("content"))
    };
    let is_harness = named_tags("script").any(|tag| {
        // In SVG it is `href`.
        tag.value("src")
            .or(tag.value("href"))
            .is_some_and(|source| source.ends_with("/resources/testharness.js"))
    });
    let timeout =
        if metadata("timeout").any(|value| value == "long") { Timeout::Long } else { Timeout::Normal };
    if !is_harness {
        let is_reference =
            named_tags("link").any(|tag| matches!(tag.value("rel"), Some("match" | "mismatch")));
        let name = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or_default();
        let test = named(path, path.to_owned(), timeout);
        // Only the name says that a test is a manual one.
        let unsupported = match test.unsupported {
            None if is_reference => Some("nothing is painted here to be compared"),
            None if name.ends_with("-crash") => None,
            other if name.ends_with("-manual") => other,
            _ => return Vec::new(),
        };
        let unsupported = unsupported.or(Some("crash tests are not run here"));
        return vec![Test { unsupported, ..test }];
    }
    or_none(metadata("variant").map(str::to_owned).collect())
        .iter()
        .map(|variant| named(path, format!("{path}{variant}"), timeout))
        .collect()
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            // Symbolic links are not followed: they could form a cycle, and the suite has none.
            let kind = entry.file_type()?;
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[(&str, Timeout, bool, bool)]) {
        let tests = if path.ends_with(".js") { script_tests(path, text) } else { document_tests(path, text) };
        let found: Vec<_> = tests
            .iter()
            .map(|test| (test.id.as_str(), test.timeout, test.secure, test.unsupported.is_none()))
            .collect();
        assert_eq!(found, expected, "{path}");
    }

    const HARNESS: &str = "<!doctype html><script src=/resources/testharness.js></script>";

    #[test]
    fn documents_are_tests_when_they_load_the_harness() {
        use Timeout::{Long, Normal};
        check("a/b.html", HARNESS, &[("a/b.html", Normal, false, true)]);
        check("a/b.https.html", HARNESS, &[("a/b.https.html", Normal, true, true)]);
        check("a/b.html", "<p>no test", &[]);
        check(
            "a/b.html",
            "<script src='/resources/testharness.js'></script><META name=\"timeout\" content='long'>",
            &[("a/b.html", Long, false, true)],
        );
        check(
            "a/b.html",
            &format!("{HARNESS}<meta name=variant content='?1'><meta name=variant content=\"?2\">"),
            &[("a/b.html?1", Normal, false, true), ("a/b.html?2", Normal, false, true)],
        );
        check("a/b.html", "<!-- <script src=/resources/testharness.js></script> -->", &[]);
        check("a/b.html", "<link rel=match href=c.html>", &[("a/b.html", Normal, false, false)]);
        check("a/b-manual.html", HARNESS, &[("a/b-manual.html", Normal, false, false)]);
        check("a/b.h2.html", HARNESS, &[("a/b.h2.html", Normal, false, false)]);
    }

    #[test]
    fn scripts_are_tests_of_the_globals_that_they_name() {
        use Timeout::{Long, Normal};
        check(
            "a/b.any.js",
            "test(() => {});",
            &[("a/b.any.html", Normal, false, true), ("a/b.any.worker.html", Normal, false, true)],
        );
        check(
            "a/b.https.any.js",
            "// META: global=window\n// META: timeout=long\n",
            &[("a/b.https.any.html", Long, true, true)],
        );
        check(
            "a/b.any.js",
            "// META: title=x\n// META: global=worker\n",
            &[
                ("a/b.any.serviceworker.html", Normal, false, false),
                ("a/b.any.sharedworker.html", Normal, false, false),
                ("a/b.any.worker.html", Normal, false, true),
            ],
        );
        check(
            "a/b.window.js",
            "// META: variant=?x\n// META: variant=?y\ncode\n// META: timeout=long\n",
            &[("a/b.window.html?x", Normal, false, true), ("a/b.window.html?y", Normal, false, true)],
        );
        check("a/b.worker.js", "", &[("a/b.worker.html", Normal, false, true)]);
    }

    #[test]
    fn tests_lead_back_to_their_files() {
        for (id, source) in [
            ("a/b.any.html", "a/b.any.js"),
            ("a/b.any.worker-module.html?x", "a/b.any.js"),
            ("a/b.window.html", "a/b.window.js"),
            ("a/b.worker.html", "a/b.worker.js"),
            ("a/b.html?c", "a/b.html"),
        ] {
            assert_eq!(source_of(id), source);
        }
    }

    #[test]
    fn what_tests_need_is_no_test() {
        for path in ["a/resources/b.html", "common/blank.html", "a.html", "a/.b.html", "a/support/c/b.html"] {
            assert!(is_for_tests(path), "{path}");
        }
        assert!(!is_for_tests("a/b.html"));
    }

    #[test]
    fn a_folder_that_is_no_checkout_is_refused() {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let Err(error) = Suite::open(folder.path()) else {
            panic!("an empty folder is taken for a checkout")
        };
        assert!(error.to_string().contains("is not a checkout of the web-platform-tests"), "{error}");
        assert!(Suite::open(&folder.path().join("missing")).is_err());
    }
}
