//! What generated code says about its map.

/// The comments by which generated code leads to its source map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comments<'code> {
    /// The URL of the map, perhaps a `data:` URL: the last [`//# sourceMappingURL=`].
    ///
    /// [`//# sourceMappingURL=`]: https://tc39.es/ecma426/#sec-linking-inline
    pub mapping_url: Option<&'code str>,
    /// The identity that code and map share: the last [`//# debugId=`].
    ///
    /// [`//# debugId=`]: https://github.com/tc39/ecma426/blob/main/proposals/debug-id.md
    pub debug_id: Option<&'code str>,
}

impl<'code> Comments<'code> {
    /// Reads the comments of JavaScript, each of which stands on a line of its own or at the end of one.
    pub fn of(code: &'code str) -> Self {
        // The last counts. Both stand at the end, so what is looked for is found at once.
        Self { mapping_url: last(code, "sourceMappingURL="), debug_id: last(code, "debugId=") }
    }
}

/// The value behind the last `//# key` or `//@ key`.
fn last<'code>(code: &'code str, key: &str) -> Option<&'code str> {
    code.rmatch_indices(key).find_map(|(at, _)| {
        let before = code[..at].trim_end_matches([' ', '\t']);
        // `//@` is how it was written at first.
        if before.len() == at || !(before.ends_with("//#") || before.ends_with("//@")) {
            return None;
        }
        // Each looks no further than to the next: there is white space within that.
        let rest = &code[at + key.len()..];
        let end = rest.find(|c: char| c.is_whitespace() || c == '\'' || c == '"').unwrap_or(rest.len());
        let (value, behind) = rest.split_at(end);
        // More on the line means that this is something else, such as a string that holds such a comment.
        let line_ends = behind.chars().find(|c| !c.is_whitespace() || *c == '\n').is_none_or(|c| c == '\n');
        (!value.is_empty() && line_ends).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found() {
        #[track_caller]
        fn check(code: &str, mapping_url: Option<&str>, debug_id: Option<&str>) {
            assert_eq!(Comments::of(code), Comments { mapping_url, debug_id });
        }
        check("", None, None);
        check("a();\n//# sourceMappingURL=a.js.map", Some("a.js.map"), None);
        check("a();//# sourceMappingURL=a.js.map\r\n\n", Some("a.js.map"), None);
        check(
            "//@ sourceMappingURL=data:application/json;base64,e30=",
            Some("data:application/json;base64,e30="),
            None,
        );
        check(
            "//# sourceMappingURL=old.map\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb17\n//# sourceMappingURL=new.map\n",
            Some("new.map"),
            Some("85314830-023f-4cf1-a267-535f4e37bb17"),
        );
        check("sourceMappingURL=a.map\n//#sourceMappingURL=a.map\n//# sourceMappingURL=\n", None, None);
        check("//# sourceMappingURL=a\u{2028}\r\nb", Some("a"), None);
        check("//# sourceMappingURL=a\rb", None, None);
        check("//# sourceMappingURL=asourceMappingURL=b", Some("asourceMappingURL=b"), None);
        check("f('//# sourceMappingURL=' + x);\nf(\"//# sourceMappingURL=a.map\")", None, None);
    }
    /// What takes time in the square of the length does not end with these.
    #[test]
    fn many_that_are_none_take_no_time() {
        for part in [
            "sourceMappingURL=",
            "//# sourceMappingURL=x ",
            "//# sourceMappingURL=\t",
            "//# sourceMappingURL=\"",
        ] {
            let code = format!("{}//# debugId=x", part.repeat(1 << 18));
            assert_eq!(Comments::of(&code).mapping_url, None, "{part}");
        }
    }
}
