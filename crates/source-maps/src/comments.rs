//! Comments that link generated code to its source map.

/// The comments of generated code that identify its source map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comments<'code> {
    /// The URL of the map, possibly a `data:` URL: the last [`//# sourceMappingURL=`].
    ///
    /// [`//# sourceMappingURL=`]: https://tc39.es/ecma426/#sec-linking-inline
    pub mapping_url: Option<&'code str>,
    /// The debug ID that code and map share: the last [`//# debugId=`].
    ///
    /// [`//# debugId=`]: https://github.com/tc39/ecma426/blob/main/proposals/debug-id.md
    pub debug_id: Option<&'code str>,
}

impl<'code> Comments<'code> {
    /// Finds the comments in JavaScript. Each must be at the end of a line.
    pub fn of(code: &'code str) -> Self {
        // Searching backwards is fast, because both comments are usually at the end.
        Self { mapping_url: last(code, "sourceMappingURL="), debug_id: last(code, "debugId=") }
    }
}

/// The value of the last `//# key` or `//@ key`.
fn last<'code>(code: &'code str, key: &str) -> Option<&'code str> {
    code.rmatch_indices(key).find_map(|(at, _)| {
        let before = code[..at].trim_end_matches([' ', '\t']);
        // `//@` is the deprecated form.
        if before.len() == at || !(before.ends_with("//#") || before.ends_with("//@")) {
            return None;
        }
        // This search never goes beyond the next match, because there is white space before it.
        let rest = &code[at + key.len()..];
        // `encodeURIComponent` leaves `'` as it is, so that it may be in the JSON of a `data:` URL.
        let is_data = rest.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
        let end = rest.find(|c: char| c.is_whitespace() || c == '\'' && !is_data || c == '"');
        let end = end.unwrap_or(rest.len());
        let (value, behind) = rest.split_at(end);
        // Anything else on the line means that this is not such a comment, e.g. a string that contains one.
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
        check("//# sourceMappingURL=data:,%7B'a'%7D", Some("data:,%7B'a'%7D"), None);
        check("//# sourceMappingURL=asourceMappingURL=b", Some("asourceMappingURL=b"), None);
        check("f('//# sourceMappingURL=' + x);\nf(\"//# sourceMappingURL=a.map\")", None, None);
    }

    /// These inputs would take forever in quadratic time.
    #[test]
    fn many_invalid_comments_take_linear_time() {
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
