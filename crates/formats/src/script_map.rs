//! The source map of a script.

/// The source map that a script had while it was recorded. Scripts that are compiled in memory have none elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptMap {
    /// The URL or path of the script, as in the trace.
    pub resource: String,
    /// The map, a JSON object. Nothing else about it is known to be valid.
    pub json: Box<str>,
}

impl ScriptMap {
    /// A map, if `json` is an object.
    pub fn new(resource: String, json: &str) -> Option<Self> {
        let json: Box<serde_json::value::RawValue> = serde_json::from_str(json).ok()?;
        Self::of_raw(resource, json)
    }

    pub(crate) fn of_raw(resource: String, json: Box<serde_json::value::RawValue>) -> Option<Self> {
        json.get().starts_with('{').then(|| Self { resource, json: json.into() })
    }
}
