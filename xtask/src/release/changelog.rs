//! What CHANGELOG.md says of a version.

/// The heading above changes of the next version.
pub const UNRELEASED: &str = "Unreleased";

/// The text of the section whose heading is `## TITLE`, maybe with a date: `## 0.1.0 (2026-12-01)`. `None` if there is
/// no such section, or nothing in it.
pub fn section<'a>(changelog: &'a str, title: &str) -> Option<&'a str> {
    let mut start = None;
    let mut end = changelog.len();
    let mut position = 0;
    for line in changelog.split_inclusive('\n') {
        let next = position + line.len();
        if let Some(heading) = line.strip_prefix("## ") {
            if start.is_some() {
                end = position;
                break;
            }
            if heading.split_whitespace().next() == Some(title) {
                start = Some(next);
            }
        }
        position = next;
    }
    let text = changelog[start?..end].trim();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_of_a_version_is_found() {
        let changelog = "\
# Changelog

## Unreleased

## 0.2.0 (2027-01-02)

### Fixed

- A fault.

## 0.1.0
- The first.
";
        assert_eq!(section(changelog, "0.2.0"), Some("### Fixed\n\n- A fault."));
        assert_eq!(section(changelog, "0.1.0"), Some("- The first."));
        assert_eq!(section(changelog, UNRELEASED), None, "it is empty");
        assert_eq!(section(changelog, "0.1"), None);
        assert_eq!(section(changelog, "2.0"), None);
        assert_eq!(section("", "0.1.0"), None);
    }
}
