//! Puts tables into docs/benchmarks.md, each between two comments that carry its benchmark's name.

use crate::checkout::Checkout;
use anyhow::{Context, Result, bail};
use std::fs;

/// The document, from the checkout's root.
pub const PATH: &str = "docs/benchmarks.md";

/// Replaces the block of that name.
pub fn replace(checkout: &Checkout, name: &str, table: &str) -> Result<()> {
    let path = checkout.root().join(PATH);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {PATH}"))?;
    let Some(text) = with_block(&text, name, table) else {
        bail!(
            "{PATH} has no block {name}\n\nhint: add the lines `<!-- bench:{name} -->` and `<!-- /bench -->`"
        );
    };
    fs::write(&path, text).with_context(|| format!("cannot write {PATH}"))
}

fn with_block(text: &str, name: &str, table: &str) -> Option<String> {
    let opening = format!("<!-- bench:{name} -->\n");
    let start = text.find(&opening)? + opening.len();
    let end = start + text[start..].find("<!-- /bench -->")?;
    Some(format!("{}{table}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::with_block;

    #[test]
    fn only_the_named_block_changes() {
        let text = "a\n<!-- bench:x -->\nold\n<!-- /bench -->\nb\n<!-- bench:y -->\n<!-- /bench -->\n";
        let expected = "a\n<!-- bench:x -->\nnew\n<!-- /bench -->\nb\n<!-- bench:y -->\n<!-- /bench -->\n";
        assert_eq!(with_block(text, "x", "new\n").as_deref(), Some(expected));
        assert_eq!(with_block(text, "z", "new\n"), None);
    }
}
