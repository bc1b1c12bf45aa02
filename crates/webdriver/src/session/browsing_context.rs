//! Browsing contexts. <https://html.spec.whatwg.org/multipage/document-sequences.html#browsing-context>

use serde_json::{Value, json};

/// A frame, and the document of the page that contains it. The page host assigns both ids. Frame 0 is the page itself,
/// in whatever document.
#[derive(Clone, Copy, Debug)]
pub(super) struct BrowsingContext {
    pub(super) frame: u64,
    document: u64,
}

impl BrowsingContext {
    /// The top-level browsing context.
    pub(super) const TOP: Self = Self { frame: 0, document: 0 };

    pub(super) fn to_json(self) -> Value {
        json!({ "frame": self.frame, "document": self.document })
    }

    pub(super) fn of_json(value: &Value) -> Self {
        let number = |name| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        Self { frame: number("frame"), document: number("document") }
    }
}
