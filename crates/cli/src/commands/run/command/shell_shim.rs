//! The shell scripts in `node_modules/.bin` that pnpm, and npm on some systems, write instead of links.
//!
//! Both are written by a package `cmd-shim`; the script of the program is on a line
//! `exec node  "$basedir/../eslint/bin/eslint.js" "$@"`.

use std::path::{Path, PathBuf};

use super::interpreter::Interpreter;
use super::shell_words;

/// A shell script that starts a script in Node.js.
#[derive(Debug, PartialEq, Eq)]
pub struct ShellShim {
    /// Options of Node.js.
    pub options: Vec<String>,
    /// The script.
    pub script: PathBuf,
    /// Folders that are added to `NODE_PATH`.
    pub node_path: Option<String>,
    /// Whether that is all the shell script does.
    pub is_complete: bool,
}

/// How the lines of such a script begin.
const KNOWN_LINES: [&str; 12] = [
    "#",
    "basedir=",
    "case ",
    "*",
    ";;",
    "esac",
    "if ",
    "else",
    "fi",
    "export NODE_PATH=",
    "exec node ",
    "exec \"$basedir/node\" ",
];

impl ShellShim {
    /// Reads the shell script at `path`. `None` if it does not start a script that exists.
    pub fn of(interpreter: &Interpreter, text: &str, path: &Path) -> Option<Self> {
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        if !interpreter.is_shell() {
            return None;
        }
        let mut words = lines().find_map(|line| line.strip_prefix("exec node ")).map(shell_words::split)?;
        if words.pop()? != "$@" {
            return None;
        }
        let target = words.pop()?;
        let script = match target.strip_prefix("$basedir/") {
            Some(relative) => path.parent()?.join(relative),
            None => PathBuf::from(&target),
        };
        let is_expanded = script.to_string_lossy().contains(['$', '`']);
        if is_expanded || !script.is_absolute() && path.is_absolute() || !script.is_file() {
            return None;
        }
        let node_path = lines()
            .find_map(|line| line.strip_prefix("export NODE_PATH=\"")?.strip_suffix('"'))
            .filter(|folders| !folders.contains(['$', '`', '\\']));
        let is_complete = words.iter().all(|word| word.starts_with('-') && !word.contains(['$', '`']))
            && lines().all(|line| KNOWN_LINES.iter().any(|known| line.starts_with(known)));
        Some(Self { options: words, script, node_path: node_path.map(str::to_owned), is_complete })
    }
}
