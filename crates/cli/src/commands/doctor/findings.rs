//! What is said of a page.

use selfprof_site::{Markup, ScriptElement, ScriptKind};

use super::fetch::Resource;
use crate::terminal::names::printable;

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is as it should be.
    Ok,
    /// It could be better.
    Note,
    /// Functions are hidden, or something is missing.
    Warning,
    /// The page cannot be profiled.
    Problem,
}

/// A sentence, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub text: String,
    pub hint: Option<&'static str>,
}

impl Finding {
    fn new(severity: Severity, text: impl Into<String>) -> Self {
        Self { severity, text: text.into(), hint: None }
    }

    fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

/// The feature in the header.
const FEATURE: &str = "js-profiling";

const SEND_HEADER: &str =
    "let the server send `Document-Policy: js-profiling, js-profiling-mode=lazy` with the HTML";

/// Whether the page may be profiled.
pub fn of_policy(page: &Resource, html: &Markup) -> Finding {
    let policy = page.header("document-policy").unwrap_or_default();
    match value_of(policy) {
        Some(true) => {
            return Finding::new(Severity::Ok, format!("Document-Policy allows profiling: {policy}"));
        }
        Some(false) => {
            let text = format!("Document-Policy forbids profiling: {policy}");
            return Finding::new(Severity::Problem, text).hint(SEND_HEADER);
        }
        None => {}
    }
    if policy.split(',').any(|member| member.trim().starts_with("js-profiling-mode=")) {
        let text = format!("Document-Policy allows profiling in Chromium 156 and newer only: {policy}");
        return Finding::new(Severity::Warning, text).hint("add `js-profiling` to the header");
    }
    let problem = |text: &str| Finding::new(Severity::Problem, text).hint(SEND_HEADER);
    if page.header("document-policy-report-only").is_some_and(|policy| value_of(policy).is_some()) {
        return problem(
            "js-profiling is in Document-Policy-Report-Only, which allows nothing: browsers only report",
        );
    }
    for (name, shown) in [("permissions-policy", "Permissions-Policy"), ("feature-policy", "Feature-Policy")]
    {
        if page.header(name).is_some_and(|policy| policy.contains(FEATURE)) {
            return problem(&format!("js-profiling is in {shown}, where browsers do not look for it"));
        }
    }
    if html.equivalents.iter().any(|name| name == "document-policy") {
        return problem("Document-Policy is in a <meta> element, where browsers do not look for it");
    }
    if policy.is_empty() {
        return problem("the header Document-Policy is missing, so browsers do not allow a Profiler");
    }
    problem(&format!("the header Document-Policy does not have js-profiling: {policy}"))
}

/// What a header says of the feature: `js-profiling`, `js-profiling=?1` or `js-profiling=?0`. It may be one of several
/// members, with parameters.
fn value_of(policy: &str) -> Option<bool> {
    let members = policy.split(',').map(|member| member.split(';').next().unwrap_or_default().trim());
    members
        .filter_map(|member| match member.split_once('=') {
            Some((FEATURE, value)) => Some(value.trim() == "?1"),
            None if member == FEATURE => Some(true),
            _ => None,
        })
        // Of several, the last one counts.
        .next_back()
}

/// A script of the page that has a URL.
pub struct Loaded<'a> {
    pub script: &'a ScriptElement,
    pub resource: &'a Resource,
}

/// What is said of a script.
pub fn of_script(Loaded { script, resource }: &Loaded, origin: &str) -> Vec<Finding> {
    let url = shown(&resource.url);
    if let Some(problem) = resource.problem() {
        return vec![Finding::new(Severity::Warning, format!("{url} cannot be fetched: {problem}"))];
    }
    let mut findings = Vec::new();
    if origin_of(&resource.url) != Some(origin) {
        let allowed = resource.header("access-control-allow-origin").map(str::trim);
        let is_allowed = allowed.is_some_and(|allowed| allowed == "*" || allowed == origin);
        let is_cors = script.kind == ScriptKind::Module || script.has_crossorigin;
        match (is_cors, is_allowed) {
            (true, true) => {}
            (true, false) => findings.push(
                Finding::new(Severity::Warning, format!("{url} is loaded with CORS, which its server does not allow, so it does not run"))
                    .hint("let its server send `Access-Control-Allow-Origin: *`"),
            ),
            (false, true) => findings.push(
                Finding::new(Severity::Warning, format!("{url} is of another origin and loaded without CORS, so its functions are hidden"))
                    .hint("add `crossorigin` to its <script>"),
            ),
            (false, false) => findings.push(
                Finding::new(Severity::Warning, format!("{url} is of another origin and loaded without CORS, so its functions are hidden"))
                    .hint("add `crossorigin` to its <script>, and let its server send `Access-Control-Allow-Origin: *`"),
            ),
        }
    }
    findings.extend(of_source_map(resource, &url));
    findings
}

/// Lines of people are shorter, in bytes.
const LONG_LINE: usize = 1_000;

/// Whether the functions of a script have names that people know.
fn of_source_map(resource: &Resource, url: &str) -> Option<Finding> {
    let body = resource.body.trim_end();
    let last = &body[body.len() - body.bytes().rev().take_while(|&byte| byte != b'\n').count()..];
    let is_named = resource.header("sourcemap").is_some() || last.contains("# sourceMappingURL=");
    let is_minified = body.lines().any(|line| line.len() > LONG_LINE);
    if is_named || !is_minified {
        return None;
    }
    let text = format!("{url} is minified and names no source map");
    Some(
        Finding::new(Severity::Note, text)
            .hint("make source maps in the build, and upload them: selfprof-collector maps upload"),
    )
}

/// What a Content Security Policy has against the agent.
pub fn of_security_policy(page: &Resource, html: &Markup) -> Option<Finding> {
    if html.equivalents.iter().any(|name| name == "content-security-policy")
        && page.header("content-security-policy").is_none()
    {
        let text = "the page has a Content Security Policy in a <meta> element, which is not looked at";
        return Some(Finding::new(Severity::Note, text));
    }
    let policy = page.header("content-security-policy")?;
    let directive = |name: &str| {
        policy.split([';', ',']).find_map(|directive| {
            let mut words = directive.split_ascii_whitespace();
            words
                .next()
                .is_some_and(|word| word.eq_ignore_ascii_case(name))
                .then(|| words.collect::<Vec<_>>())
        })
    };
    let sources = ["worker-src", "child-src", "script-src", "default-src"].into_iter().find_map(directive)?;
    if sources.iter().any(|source| source.eq_ignore_ascii_case("blob:")) {
        return None;
    }
    let text = "the Content Security Policy forbids workers from blob: URLs, so @selfprof/browser sends without compression";
    Some(
        Finding::new(Severity::Note, text)
            .hint("add `worker-src blob:`, or give the agent `worker: false`, which avoids reports"),
    )
}

/// The origin of a URL that a browser would write in the same way.
pub fn origin_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let length = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some(&url[..scheme.len() + 3 + length])
}

/// A URL without what may be secret, on one line.
pub fn shown(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    printable(&url[..end]).chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(url: &str, headers: &[(&str, &str)], body: &str) -> Resource {
        let headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        Resource { url: url.into(), status: 200, headers, body: body.into(), ..Resource::default() }
    }

    #[test]
    fn policies() {
        #[track_caller]
        fn check(headers: &[(&str, &str)], meta: &[&str], severity: Severity, expected: &str) {
            let html =
                Markup { equivalents: meta.iter().map(|&name| name.into()).collect(), ..Markup::default() };
            let finding = of_policy(&resource("https://a.test/", headers, ""), &html);
            assert_eq!(finding.severity, severity, "{finding:?}");
            assert!(finding.text.contains(expected), "{finding:?}");
        }
        use Severity::{Ok, Problem};
        check(&[("document-policy", "js-profiling")], &[], Ok, "allows profiling");
        check(&[("document-policy", "a=1.0, js-profiling;report-to=x, b")], &[], Ok, "allows profiling");
        check(&[("document-policy", "js-profiling=?1, js-profiling-mode=lazy")], &[], Ok, "allows profiling");
        check(&[("document-policy", "js-profiling=?0")], &[], Problem, "forbids");
        check(&[("document-policy", "js-profiling-mode=lazy")], &[], Severity::Warning, "156 and newer only");
        check(&[("document-policy", "js-profilings")], &[], Problem, "does not have js-profiling");
        check(&[], &[], Problem, "is missing");
        check(&[("document-policy-report-only", "js-profiling")], &[], Problem, "Report-Only");
        check(&[("permissions-policy", "js-profiling=(self)")], &[], Problem, "Permissions-Policy");
        check(&[], &["document-policy"], Problem, "<meta>");
    }

    #[test]
    fn scripts() {
        #[track_caller]
        fn check(url: &str, is_cors: bool, headers: &[(&str, &str)], expected: &[&str]) {
            let crossorigin = if is_cors { "crossorigin" } else { "" };
            let html = Markup::read(&format!("<script src='{url}' {crossorigin}></script>"));
            let resource = resource(url, headers, "f()");
            let loaded = Loaded { script: &html.scripts[0], resource: &resource };
            let findings = of_script(&loaded, "https://a.test");
            assert_eq!(findings.len(), expected.len(), "{findings:?}");
            for (finding, expected) in findings.iter().zip(expected) {
                assert!(finding.text.contains(expected), "{finding:?}");
            }
        }
        let any = [("access-control-allow-origin", "*")];
        check("https://a.test/a.js", false, &[], &[]);
        check(
            "https://cdn.test/a.js?key=secret",
            false,
            &any,
            &["https://cdn.test/a.js is of another origin"],
        );
        check("https://cdn.test/a.js", true, &any, &[]);
        check(
            "https://cdn.test/a.js",
            true,
            &[("access-control-allow-origin", "https://b.test")],
            &["does not run"],
        );
        check("https://cdn.test/a.js", true, &[("access-control-allow-origin", "https://a.test")], &[]);
        check("http://a.test/a.js", false, &[], &["another origin"]);
        check("https://a.test:8443/a.js", false, &[], &["another origin"]);
    }

    #[test]
    fn source_maps() {
        let minified = "f();".repeat(500);
        #[track_caller]
        fn check(body: &str, headers: &[(&str, &str)], expected: bool) {
            let found = of_source_map(&resource("https://a.test/a.js", headers, body), "a.js");
            assert_eq!(found.is_some(), expected, "{found:?}");
        }
        check(&minified, &[], true);
        check(&format!("{minified}\n//# sourceMappingURL=a.js.map\n"), &[], false);
        check(&minified, &[("sourcemap", "a.js.map")], false);
        check("f();\n", &[], false);
        check("", &[], false);
    }

    #[test]
    fn security_policies() {
        #[track_caller]
        fn check(policy: &str, expected: bool) {
            let page = resource("https://a.test/", &[("content-security-policy", policy)], "");
            assert_eq!(of_security_policy(&page, &Markup::default()).is_some(), expected, "{policy}");
        }
        check("default-src 'self'", true);
        check("default-src 'self'; worker-src 'self' blob:", false);
        check("img-src 'self'", false);
        check("Script-Src 'self'", true);
    }
}
