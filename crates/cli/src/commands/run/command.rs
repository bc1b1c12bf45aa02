//! What `selfprof run` starts: the command that was typed, as a command line of Node.js.
//!
//! Only a program that this process starts itself is profiled. Commands that would start it in another process, such as
//! `npm run`, are errors that name the command to use instead.

mod interpreter;
mod node_options;
mod npx;
mod package_json;
mod package_manager;
mod program_file;
mod script;
mod search_path;
mod shell_shim;
mod shell_words;
mod suggestion;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::terminal::names::printable;

use interpreter::Interpreter;
use package_manager::PackageManager;
use program_file::ProgramFile;
pub use search_path::SearchPath;
pub use shell_words::quoted;
use suggestion::shown;

/// Why a command cannot be profiled.
const ONLY_DIRECT: &str = "so far, selfprof profiles only Node.js programs that it starts directly";

/// Interpreters of JavaScript. Node.js may be able to run their scripts.
const OTHER_RUNTIMES: [&str; 6] = ["bun", "deno", "npx", "ts-node", "tsx", "zx"];

/// Programs that start others in processes of their own.
const LAUNCHERS: [&str; 8] =
    ["concurrently", "lerna", "nodemon", "npm-run-all", "nx", "run-p", "run-s", "tsx"];

/// A command line of Node.js.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NodeCommand {
    /// The Node.js executable, if the command names one by its path.
    pub node: Option<PathBuf>,
    /// The options of Node.js, the script and its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables to set.
    pub variables: Vec<(OsString, OsString)>,
    /// The script or program that the trace is named after.
    pub name: PathBuf,
}

impl NodeCommand {
    /// The meaning of the words after `selfprof run` and its options.
    pub fn new(words: &[OsString], search: &SearchPath) -> Result<Self, Failure> {
        let first = words.first().map(OsString::as_os_str).unwrap_or_default();
        match PackageManager::named(first) {
            Some(manager) if script::find_file(first, search).is_none() => {
                let command = words.join(OsStr::new(" "));
                let message =
                    format!("cannot profile `{}`: {ONLY_DIRECT}", shown(&command.to_string_lossy()));
                Err(Failure::usage(message).hint(manager.hint(&words[1..], search, Self::is_direct)))
            }
            _ => Self::direct(words, search),
        }
    }

    /// Whether a command starts a program that can be profiled, and that does the work itself.
    fn is_direct(words: &[String], search: &SearchPath) -> bool {
        let is_launcher = words.first().is_some_and(|first| LAUNCHERS.contains(&first.as_str()));
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        !is_launcher
            && words.first().is_some_and(|first| PackageManager::named(first).is_none())
            && Self::direct(&words, search).is_ok()
    }

    /// As [`Self::new`], for everything but package managers.
    fn direct(words: &[OsString], search: &SearchPath) -> Result<Self, Failure> {
        let Some((first, rest)) = words.split_first() else {
            return Err(script::missing(OsStr::new(""), search));
        };
        let bytes = first.as_bytes();
        if bytes.starts_with(b"-") {
            return Ok(Self::node(None, words));
        }
        if first == "node" {
            return Ok(Self::node(None, rest));
        }
        if let Some(found) = script::find_file(first, search) {
            return Self::script(first, found, rest, search);
        }
        let is_name = !bytes.contains(&b'/');
        if is_name && first == "npx" {
            let npx::NpxProgram { name, path, arguments } = npx::find(rest, search)?;
            return Self::program(&name, &path, arguments, search);
        }
        // Programs of the project are found before directories, which often have the name of a tool, and these before PATH,
        // which has programs such as `test`.
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

    /// Node.js itself, with these options and this script.
    fn node(node: Option<PathBuf>, arguments: &[OsString]) -> Self {
        let name = node_options::script(arguments).map_or_else(|| "node".into(), PathBuf::from);
        Self { node, arguments: arguments.to_vec(), name, ..Self::default() }
    }

    /// `node SCRIPT ARGS...`.
    fn plain_script(typed: &OsStr, name: PathBuf, rest: &[OsString]) -> Self {
        Self { arguments: with_first(typed, rest), name, ..Self::default() }
    }

    /// A file that was named by its path. Files that Node.js cannot run are programs, such as those in `node_modules/.bin`.
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
                node: None,
                arguments: options.into_iter().map(OsString::from).chain(with_first(path, rest)).collect(),
                variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
                name: name.into(),
            }),
            ProgramFile::Shim(shim) if shim.is_complete => {
                let options = shim.options.into_iter().map(OsString::from);
                Ok(Self {
                    node: None,
                    arguments: options.chain(with_first(&shim.script, rest)).collect(),
                    variables: shim
                        .node_path
                        .map(|folders| ("NODE_PATH".into(), search.with_node_path(&folders)))
                        .into_iter()
                        .collect(),
                    name: name.into(),
                })
            }
            ProgramFile::Shim(shim) => Err(not_javascript(path, "a shell script")
                .hint(format!("it starts {0}; try `selfprof run {0}`", shim.script.display()))),
            // A version manager's `node` is often a shell script.
            ProgramFile::Native | ProgramFile::Interpreted(_) if is_node(path) => {
                Ok(Self::node(Some(path.into()), rest))
            }
            ProgramFile::Native => Err(not_javascript(path, "a native program").hint(DIRECT_HINT)),
            ProgramFile::Text => Err(not_javascript(path, "a shell script").hint(DIRECT_HINT)),
            ProgramFile::Interpreted(interpreter) => {
                let kind = format!("a script of `{}`", printable(&interpreter));
                Err(not_javascript(path, &kind).hint(DIRECT_HINT))
            }
        }
    }
}

const DIRECT_HINT: &str =
    "if it starts a Node.js program, profile that one: `selfprof run node [OPTIONS] SCRIPT [ARGS]...`";

fn not_javascript(path: &Path, kind: &str) -> Failure {
    Failure::usage(format!("{} is {kind}; {ONLY_DIRECT}", path.display()))
}

fn is_node(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "node" || name == "nodejs")
}

fn with_first(first: impl AsRef<OsStr>, rest: &[OsString]) -> Vec<OsString> {
    std::iter::once(first.as_ref().to_owned()).chain(rest.iter().cloned()).collect()
}
