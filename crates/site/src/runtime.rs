//! The polyfill's runtime.

use selfprof_instrument::Names;

use crate::error::SiteError;
use crate::functions_table::TABLE;

/// Its file, beside the copies.
pub const RUNTIME: &str = "selfprof-polyfill.js";

/// The template of the runtime.
#[derive(Debug)]
pub struct RuntimeTemplate<'a> {
    text: &'a str,
    /// Whether it records calls.
    is_trace: bool,
}

impl<'a> RuntimeTemplate<'a> {
    /// The template with this text, which has all names that are replaced.
    pub fn new(text: &'a str, is_trace: bool) -> Result<Self, SiteError> {
        let template = Self { text, is_trace };
        match template.render(&Names::default()) {
            Some(_) => Ok(template),
            None => Err(SiteError::Template),
        }
    }

    /// The runtime with these names; `None` if the template lacks one.
    pub fn render(&self, names: &Names) -> Option<String> {
        let Names { enter, check, leave, native, scan, resume, active, activation: _ } = names;
        let sampling: &[(&str, &str)] = &[
            ("SELFPROF_ENTER", enter),
            ("SELFPROF_CHECK", check),
            ("SELFPROF_LEAVE", leave),
            ("SELFPROF_NATIVE", native),
            ("SELFPROF_SCAN", scan),
            ("SELFPROF_RESUME", resume),
            ("SELFPROF_FUNCTIONS", TABLE),
        ];
        let tracing: &[(&str, &str)] = &[
            ("SELFPROF_ACTIVE", active),
            ("SELFPROF_ENTRY", enter),
            ("SELFPROF_EXIT", check),
            ("SELFPROF_FIRST", native),
            ("SELFPROF_FUNCTIONS", TABLE),
        ];
        let words = if self.is_trace { tracing } else { sampling };
        let mut found = vec![false; words.len()];
        let mut rendered = String::with_capacity(self.text.len());
        let mut rest = self.text;
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        while let Some(start) = rest.find(is_part) {
            let length = rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start);
            let word = &rest[start..start + length];
            rendered.push_str(&rest[..start]);
            match words.iter().position(|(known, _)| *known == word) {
                Some(index) => {
                    found[index] = true;
                    rendered.push_str(words[index].1);
                }
                None => rendered.push_str(word),
            }
            rest = &rest[start + length..];
        }
        rendered.push_str(rest);
        found.iter().all(|found| *found).then_some(rendered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_replaced() {
        let render = |text| RuntimeTemplate { text, is_trace: false }.render(&Names::default());
        let text = "let SELFPROF_ENTER,SELFPROF_CHECK,SELFPROF_LEAVE,SELFPROF_NATIVE,SELFPROF_SCAN,SELFPROF_RESUME;\
                    /*é*/x(\"SELFPROF_FUNCTIONS\",SELFPROF_ENTER2,XSELFPROF_ENTER)";
        assert_eq!(
            render(text).as_deref(),
            Some("let $e,$t,$x,$h,$s,$r;/*é*/x(\"selfprof-functions.json\",SELFPROF_ENTER2,XSELFPROF_ENTER)")
        );
        assert_eq!(render("let SELFPROF_ENTER"), None);
    }
}
