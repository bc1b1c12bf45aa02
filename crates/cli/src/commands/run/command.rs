//! What `selfprof run` starts: the command that was typed, as a command line of Node.js where possible.
//!
//! A program in JavaScript is started by Node.js itself, without `npx` or a shell in between. Everything else, such as
//! a shell script, is started as it is, and the Node.js processes that it starts are recorded.

mod interpreter;
mod node_options;
mod npx;
mod package_json;
mod program_file;
mod script;
mod search_path;
mod shell_shim;
mod shell_words;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::terminal::names::printable;

use interpreter::Interpreter;
pub use node_options::{have_permission_model, is_permission_model, script};
use program_file::ProgramFile;
pub use search_path::SearchPath;

/// Interpreters of JavaScript. Node.js may be able to run their scripts.
const OTHER_RUNTIMES: [&str; 6] = ["bun", "deno", "npx", "ts-node", "tsx", "zx"];

/// What to start.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Program {
    /// The Node.js executable that is used by default.
    #[default]
    Node,
    /// A Node.js executable that was named by its path.
    NodeAt(PathBuf),
    /// Another program, and what kind of program it is.
    Other(PathBuf, String),
}

/// A command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub program: Program,
    /// The program's arguments; for Node.js: its options, the script and the script's arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables to set.
    pub variables: Vec<(OsString, OsString)>,
    /// The script or program that the trace is named after.
    pub name: PathBuf,
}

impl CommandLine {
    /// The meaning of the words after `selfprof run` and its options.
    pub fn new(words: &[OsString], search: &SearchPath) -> Result<Self, Failure> {
        let Some((first, rest)) = words.split_first() else {
            return Err(script::missing(OsStr::new(""), search));
        };
        let bytes = first.as_bytes();
        if bytes.starts_with(b"-") {
            return Ok(Self::node(Program::Node, words));
        }
        if first == "node" {
            return Ok(Self::node(Program::Node, rest));
        }
        if let Some(found) = script::find_file(first, search) {
            return Self::script(first, found, rest, search);
        }
        let is_name = !bytes.contains(&b'/');
        if is_name && first == "npx" {
            // Otherwise npx itself is started, which may download the program.
            if let Some(npx::NpxProgram { name, path, arguments }) = npx::find(rest, search) {
                return Self::program(&name, &path, arguments, search);
            }
        }
        // Programs of the project are found before directories, which often have the name of a tool, and these before
        // PATH, which has programs such as `test`.
        if let Some(program) = search.local_program(first).filter(|_| is_name) {
            return Self::program(first, &program, rest, search);
        }
        if let Some(found) = script::find(first, search) {
            return Ok(Self::plain_script(first, found, rest));
        }
        match search.program_on_path(first).filter(|_| is_name) {
            Some(program) => Self::program(first, &program, rest, search),
            None => Err(script::missing(first, search)),
        }
    }

    /// Whether options of Node.js turn on its permission model, which keeps the recorder from loading.
    pub fn has_permission_model(&self) -> bool {
        !matches!(self.program, Program::Other(..)) && node_options::have_permission_model(&self.arguments)
    }

    /// Node.js itself, with these options and this script.
    fn node(program: Program, arguments: &[OsString]) -> Self {
        let name = node_options::script(arguments).map_or_else(|| "node".into(), PathBuf::from);
        Self { program, arguments: arguments.to_vec(), name, ..Self::default() }
    }

    /// A program that is not in JavaScript.
    fn other(name: &OsStr, path: &Path, kind: &str, arguments: &[OsString]) -> Self {
        Self {
            program: Program::Other(path.into(), kind.to_owned()),
            arguments: arguments.to_vec(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// `node SCRIPT ARGS...`.
    fn plain_script(typed: &OsStr, name: PathBuf, rest: &[OsString]) -> Self {
        Self { arguments: with_first(typed, rest), name, ..Self::default() }
    }

    /// A file that was named by its path. Files that Node.js cannot run are programs, such as those in
    /// `node_modules/.bin`.
    fn script(typed: &OsStr, name: PathBuf, rest: &[OsString], search: &SearchPath) -> Result<Self, Failure> {
        if script::is_named_as_one(&name) {
            return Ok(Self::plain_script(typed, name, rest));
        }
        match ProgramFile::read(&search.directory.join(&name)) {
            // Node.js reports what is wrong with a file that cannot be read.
            Err(_) | Ok(ProgramFile::Text) => Ok(Self::plain_script(typed, name, rest)),
            Ok(ProgramFile::Interpreted(program)) if OTHER_RUNTIMES.contains(&program.as_str()) => {
                Ok(Self::plain_script(typed, name, rest))
            }
            Ok(file) => Self::file(typed, Path::new(typed), file, rest, search),
        }
    }

    /// A program that was found by its name.
    fn program(name: &OsStr, path: &Path, rest: &[OsString], search: &SearchPath) -> Result<Self, Failure> {
        let file = ProgramFile::read(path)
            .map_err(|error| Failure::usage(format!("cannot read {}", path.display())).because(&error))?;
        Self::file(name, path, file, rest, search)
    }

    fn file(
        name: &OsStr,
        path: &Path,
        file: ProgramFile,
        rest: &[OsString],
        search: &SearchPath,
    ) -> Result<Self, Failure> {
        match file {
            ProgramFile::JavaScript(Interpreter { variables, options, .. }) => Ok(Self {
                program: Program::Node,
                arguments: options.into_iter().map(OsString::from).chain(with_first(path, rest)).collect(),
                variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
                name: name.into(),
            }),
            ProgramFile::Shim(shim) if shim.is_complete => {
                let options = shim.options.into_iter().map(OsString::from);
                Ok(Self {
                    program: Program::Node,
                    arguments: options.chain(with_first(&shim.script, rest)).collect(),
                    variables: shim
                        .node_path
                        .map(|folders| ("NODE_PATH".into(), search.with_node_path(&folders)))
                        .into_iter()
                        .collect(),
                    name: name.into(),
                })
            }
            ProgramFile::Shim(_) => Ok(Self::other(name, path, "a shell script", rest)),
            // A version manager's `node` is often a shell script.
            ProgramFile::Native | ProgramFile::Interpreted(_) if is_node(path) => {
                Ok(Self::node(Program::NodeAt(path.into()), rest))
            }
            ProgramFile::Native => Ok(Self::other(name, path, "a native program", rest)),
            // Shells run text without a `#!` line themselves.
            ProgramFile::Text => {
                let arguments = with_first(path, rest);
                Ok(Self::other(name, Path::new("/bin/sh"), "a shell script", &arguments))
            }
            ProgramFile::Interpreted(interpreter) => {
                let kind = format!("a script of `{}`", printable(&interpreter));
                Ok(Self::other(name, path, &kind, rest))
            }
        }
    }
}

fn is_node(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "node" || name == "nodejs")
}

fn with_first(first: impl AsRef<OsStr>, rest: &[OsString]) -> Vec<OsString> {
    std::iter::once(first.as_ref().to_owned()).chain(rest.iter().cloned()).collect()
}
