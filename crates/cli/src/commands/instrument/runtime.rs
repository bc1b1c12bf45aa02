//! The polyfill's runtime.

use std::fs;

use selfprof_instrument::Names;

use crate::failure::Failure;
use crate::installation::package::Package;

use super::inputs::TABLE;

/// The template of the runtime, from the npm package.
#[derive(Debug)]
pub struct RuntimeTemplate {
    text: String,
    /// Whether it records calls.
    is_trace: bool,
}

impl RuntimeTemplate {
    /// Reads the template.
    pub fn find(is_trace: bool) -> Result<Self, Failure> {
        let path = Package::find()?.polyfill(if is_trace { "tracing.js" } else { "polyfill.js" });
        let hint = "in a checkout, `cargo xtask build` builds it; otherwise, install the npm package again";
        let text = fs::read_to_string(&path).map_err(|error| {
            Failure::job(format!("cannot read the polyfill {}", path.display())).because(&error).hint(hint)
        })?;
        let template = Self { text, is_trace };
        if template.render(&Names::default()).is_none() {
            return Err(Failure::job(format!("{} is not the polyfill's template", path.display())).hint(hint));
        }
        Ok(template)
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
        let mut rest = self.text.as_str();
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
        let template = |text: &str| RuntimeTemplate { text: text.to_owned(), is_trace: false };
        let text = "let SELFPROF_ENTER,SELFPROF_CHECK,SELFPROF_LEAVE,SELFPROF_NATIVE,SELFPROF_SCAN,SELFPROF_RESUME;\
                    /*é*/x(\"SELFPROF_FUNCTIONS\",SELFPROF_ENTER2,XSELFPROF_ENTER)";
        assert_eq!(
            template(text).render(&Names::default()).as_deref(),
            Some("let $e,$t,$x,$h,$s,$r;/*é*/x(\"selfprof-functions.json\",SELFPROF_ENTER2,XSELFPROF_ENTER)")
        );
        assert_eq!(template("let SELFPROF_ENTER").render(&Names::default()), None);
    }
}
