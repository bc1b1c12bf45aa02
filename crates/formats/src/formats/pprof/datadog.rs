//! How `@datadog/pprof` names what V8 names otherwise.

/// The line and column of a function without a name: `(anonymous:L#96:C#38)`.
pub fn anonymous(name: &str) -> Option<(i64, i64)> {
    let (line, column) = name.strip_prefix("(anonymous:L#")?.strip_suffix(')')?.split_once(":C#")?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

/// Whether this function is the garbage collector.
pub fn is_gc(name: &str, file: &str) -> bool {
    name == "Garbage Collection" && file.is_empty()
}
