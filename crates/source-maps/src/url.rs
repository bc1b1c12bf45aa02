//! Resolving the relative URLs of sources.

/// The URL or path of a source, relative to that of the map or of the generated code.
pub(crate) fn resolve(base: &str, source: &str) -> String {
    if is_absolute(source) || base.is_empty() {
        return source.to_owned();
    }
    // The part that `..` must not leave: `https://host`, `file://`, or the root of a path.
    let root = match base.split_once("://") {
        Some((scheme, rest)) => scheme.len() + 3 + rest.find('/').unwrap_or(rest.len()),
        None => 0,
    };
    let (root, path) = base.split_at(root);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    if !root.is_empty() && parts.is_empty() {
        parts.push("");
    }
    for part in source.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| !["", ".."].contains(last)) => {
                parts.pop();
            }
            // A relative path may start above the base; a URL may not.
            ".." if !root.is_empty() || path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

/// Whether the URL is absolute, e.g. `https://host/a.js`, `webpack://app/./a.js` or `/a.js`.
pub(crate) fn is_absolute(url: &str) -> bool {
    url.starts_with('/')
        || url.split_once(':').is_some_and(|(scheme, _)| {
            scheme.len() > 1
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_relative_to_their_maps() {
        #[track_caller]
        fn check(base: &str, source: &str, expected: &str) {
            assert_eq!(resolve(base, source), expected);
        }
        check("file:///app/dist/a.js", "../src/a.ts", "file:///app/src/a.ts");
        check("file:///app/dist/a.js", "./a.ts", "file:///app/dist/a.ts");
        check("/app/dist/a.js", "../src/a.ts", "/app/src/a.ts");
        check("dist/a.js", "../../a.ts", "../a.ts");
        check("https://host/a.js?v=1/2", "../../a.ts", "https://host/a.ts");
        check("https://host", "a.ts", "https://host/a.ts");
        check("https://host/a.js", "webpack://app/./a.ts", "webpack://app/./a.ts");
        check("https://host/a.js", "/a.ts", "/a.ts");
        check("a.js", "a.ts", "a.ts");
        check("", "a.ts", "a.ts");
    }
}
