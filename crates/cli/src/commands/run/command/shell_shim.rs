//! The shell scripts in `node_modules/.bin` that pnpm, and npm on some systems, write instead of links.
//!
//! Packages named `cmd-shim` write them. The script of the program is on a line
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

/// The comment that ends the shell scripts of newer versions of pnpm.
const MARK: &str = "# cmd-shim-target=";

/// How the lines of the other ones begin.
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
        if !interpreter.is_shell() {
            return None;
        }
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        let folders = Folders {
            typed: path.parent()?.to_owned(),
            real: path.canonicalize().ok()?.parent()?.to_owned(),
        };
        let (options, script) = lines().find_map(|line| start_of_node(line, &folders))?;
        let is_complete = options.iter().all(|option| option.starts_with('-') && !is_expanded(option))
            && (lines().next_back()?.starts_with(MARK)
                || lines().all(|line| KNOWN_LINES.iter().any(|known| line.starts_with(known))));
        Some(Self {
            options,
            script,
            node_path: lines().find_map(|line| node_path(line, &folders)),
            is_complete,
        })
    }
}

/// The folder of the shell script.
struct Folders {
    /// `$basedir`: in the path by which it was named.
    typed: PathBuf,
    /// `$basedir_abs`: without symbolic links.
    real: PathBuf,
}

impl Folders {
    /// An absolute path, or one below a folder. `None` if it contains other variables.
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        let (folder, path) = if let Some(relative) = path.strip_prefix("$basedir/") {
            (&*self.typed, relative)
        } else if let Some(relative) = path.strip_prefix("$basedir_abs/") {
            (&*self.real, relative)
        } else {
            (Path::new(""), path)
        };
        let resolved = folder.join(path);
        (resolved.is_absolute() && !is_expanded(path)).then_some(resolved)
    }
}

/// The options of Node.js and the script in `exec node --flag "$basedir/x.js" "$@"`.
fn start_of_node(line: &str, folders: &Folders) -> Option<(Vec<String>, PathBuf)> {
    let mut words = shell_words::split(line.strip_prefix("exec node ")?);
    words.pop().filter(|arguments| arguments == "$@")?;
    let script = folders.resolve(&words.pop()?)?;
    script.is_file().then_some((words, script))
}

/// The folders in `export NODE_PATH="/a":"$basedir_abs/b"`.
fn node_path(line: &str, folders: &Folders) -> Option<String> {
    let value = shell_words::split(line.strip_prefix("export NODE_PATH=")?).pop()?;
    let resolved = value.split(':').map(|folder| Some(folders.resolve(folder)?.to_str()?.to_owned()));
    Some(resolved.collect::<Option<Vec<_>>>()?.join(":"))
}

fn is_expanded(word: &str) -> bool {
    word.contains(['$', '`'])
}
