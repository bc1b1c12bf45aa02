//! The table of functions, which the runtime fetches when a profiler starts.

use std::io::{self, Write};

use selfprof_instrument::{Function, Position};

/// Its file, beside the copies.
pub const TABLE: &str = "selfprof-functions.json";

/// The functions of all files.
#[derive(Debug, Default)]
pub struct FunctionsTable {
    /// Whether functions have numbers.
    is_trace: bool,
    files: Vec<(String, u32, Vec<Function>)>,
}

impl FunctionsTable {
    /// Without `is_trace`, functions have no numbers.
    pub fn new(is_trace: bool) -> Self {
        Self { is_trace, files: Vec::new() }
    }

    /// Adds the functions of a file, whose URL is relative to that of the table, and the number of the first one.
    pub fn add(&mut self, url: String, first_id: u32, functions: Vec<Function>) {
        self.files.push((url, first_id, functions));
    }

    /// Writes the table as JSON: `{ "version": 1, "files": { URL: { "functions": [...] } } }`. If functions have
    /// numbers, the number of the first one of a file is its last element.
    ///
    /// A function is `[name, line, column, startLine, startColumn, endLine, endColumn, parent]`: its name and place in
    /// the plain file, its extent in the instrumented one, and the index of the function around it, or -1.
    pub fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.files.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        out.write_all(b"{\"version\":1,\"files\":{")?;
        for (index, (url, first_id, functions)) in self.files.iter().enumerate() {
            out.write_all(if index > 0 { b",\n" } else { b"\n" })?;
            serde_json::to_writer(&mut *out, url)?;
            out.write_all(b":{\"functions\":[")?;
            for (index, function) in functions.iter().enumerate() {
                out.write_all(if index > 0 { b",[" } else { b"[" })?;
                serde_json::to_writer(&mut *out, &function.name)?;
                let Function { line, column, start, end, .. } = function;
                let parent = function.parent.map_or(-1, i64::from);
                let Position { line: start_line, column: start_column } = start;
                let Position { line: end_line, column: end_column } = end;
                write!(out, ",{line},{column},{start_line},{start_column},{end_line},{end_column},{parent}")?;
                if self.is_trace && index == 0 {
                    write!(out, ",{first_id}")?;
                }
                out.write_all(b"]")?;
            }
            out.write_all(b"]}")?;
        }
        out.write_all(b"\n}}\n")
    }
}
