//! What kind of program a file is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::interpreter::Interpreter;
use super::shell_shim::ShellShim;

/// How much of a file is read. The shims of npm and pnpm are a few kilobytes long.
const MAX_BYTES: u64 = 64 << 10;

/// Extensions of programs in JavaScript.
const EXTENSIONS: [&str; 3] = ["js", "cjs", "mjs"];

/// A file that can be started as a program.
#[derive(Debug)]
pub enum ProgramFile {
    /// JavaScript, with the options and variables of its `#!` line.
    JavaScript(Interpreter),
    /// A shell script of npm or pnpm that starts a script in Node.js.
    Shim(ShellShim),
    /// A script of this other interpreter.
    Interpreted(String),
    /// A file for the processor.
    Native,
    /// Text without a `#!` line.
    Text,
}

impl ProgramFile {
    /// Reads the start of the file that the path leads to.
    pub fn read(path: &Path) -> io::Result<Self> {
        // Reading a pipe would take its content away from Node.js.
        if !path.metadata()?.is_file() {
            return Ok(Self::Text);
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        let interpreter = Interpreter::of(&bytes);
        let target = path.canonicalize()?;
        if let Some(interpreter) = interpreter.as_ref().filter(|interpreter| interpreter.is_node()) {
            return Ok(Self::JavaScript(interpreter.clone()));
        }
        if target.extension().is_some_and(|extension| EXTENSIONS.iter().any(|&known| extension == known)) {
            return Ok(Self::JavaScript(Interpreter::default()));
        }
        Ok(match interpreter {
            Some(interpreter) => ShellShim::of(&interpreter, &String::from_utf8_lossy(&bytes), path)
                .map_or(Self::Interpreted(interpreter.program), Self::Shim),
            None if bytes.contains(&0) => Self::Native,
            None => Self::Text,
        })
    }
}
