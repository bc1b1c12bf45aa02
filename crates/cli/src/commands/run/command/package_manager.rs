//! npm, yarn and pnpm start programs in other processes, which is an error so far. The hint names the command to use.

use std::ffi::{OsStr, OsString};

use crate::failure::Failure;
use crate::terminal::names::printable;

use super::package_json::PackageJson;
use super::search_path::SearchPath;
use super::shell_words::{self, Word};
use super::{NodeCommand, ONLY_DIRECT};

/// The longest command of a script that is shown or suggested, in bytes.
const MAX_SHOWN: usize = 500;

/// A package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageManager {
    Npm,
    Yarn,
    Pnpm,
}

/// What a package manager is asked to start.
enum Target {
    /// A script of package.json, and arguments for it.
    Script(String, Vec<String>),
    /// A program and its arguments.
    Program(Vec<String>),
}

impl PackageManager {
    /// The package manager with this name.
    pub fn named(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "npm" => Some(Self::Npm),
            "yarn" => Some(Self::Yarn),
            "pnpm" => Some(Self::Pnpm),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Yarn => "yarn",
            Self::Pnpm => "pnpm",
        }
    }

    /// The error for this package manager with these words.
    pub fn failure(self, words: &[OsString], search: &SearchPath) -> Failure {
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let package = PackageJson::nearest(&search.directory);
        let command =
            [self.name()].into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let failure = Failure::usage(format!("cannot profile `{}`: {ONLY_DIRECT}", shown(&command)));
        failure.hint(match self.target(&words, package.as_ref(), search) {
            Some(Target::Script(name, arguments)) => {
                hint_of_script(&name, &arguments, package.as_ref(), search)
            }
            Some(Target::Program(words)) if can_run(&words, search) => {
                let words: Vec<_> = words.iter().map(|word| shell_words::quoted(word)).collect();
                format!("start the program directly: `selfprof run {}`", shown(&words.join(" ")))
            }
            _ => "name the program itself, e.g. `selfprof run eslint .`".to_owned(),
        })
    }

    /// `None` if there is an option before the name, or if this is another command of the package manager.
    fn target(self, words: &[String], package: Option<&PackageJson>, search: &SearchPath) -> Option<Target> {
        let (first, rest) = words.split_first()?;
        let script =
            |name: &str, rest: &[String]| Some(Target::Script(name.to_owned(), self.script_arguments(rest)));
        match first.as_str() {
            "run" | "run-script" => {
                let (name, rest) = rest.split_first()?;
                script(name, rest)
            }
            "test" | "t" => script("test", rest),
            "start" | "stop" | "restart" => script(first, rest),
            "exec" | "x" => {
                let separator = usize::from(rest.first().is_some_and(|word| word == "--"));
                Some(Target::Program(rest[separator..].to_vec()))
            }
            _ if self == Self::Npm || first.starts_with('-') => None,
            name if package.and_then(|package| package.script(name)).is_some() => script(name, rest),
            name => search.local_program(OsStr::new(name)).map(|_| Target::Program(words.to_vec())),
        }
    }

    /// The arguments that reach a script. npm keeps options before `--` for itself.
    fn script_arguments(self, words: &[String]) -> Vec<String> {
        let separator = words.iter().position(|word| word == "--");
        let (before, after) = words.split_at(separator.unwrap_or(words.len()));
        let before = before.iter().filter(|word| self != Self::Npm || !word.starts_with('-'));
        before.chain(after.iter().skip(1)).cloned().collect()
    }
}

fn hint_of_script(
    name: &str,
    arguments: &[String],
    package: Option<&PackageJson>,
    search: &SearchPath,
) -> String {
    let name = shown(name);
    let Some(package) = package else { return format!("there is no package.json with a script `{name}`") };
    let folder = package.folder.display();
    let Some(line) = package.script(&name) else {
        return format!("{folder}/package.json has no script `{name}`");
    };
    let place = if package.folder == search.directory { String::new() } else { format!(", in {folder}") };
    // A script runs in the folder of its package.
    let search = SearchPath {
        directory: package.folder.clone(),
        path: search.path.clone(),
        node_path: search.node_path.clone(),
    };
    let commands = shell_words::commands(line);
    let suggestion = commands.iter().find_map(|command| suggestion(command, line, &search));
    match (suggestion, commands.len()) {
        (Some(mut suggestion), 1) => {
            for argument in arguments {
                suggestion += &format!(" {}", shell_words::quoted(argument));
            }
            format!("start the command of this script directly: `{}`{place}", shown(&suggestion))
        }
        (Some(suggestion), _) => format!(
            "this script is `{}`; start one of its commands directly: `{}`{place}",
            shown(line),
            shown(&suggestion)
        ),
        (None, _) => format!(
            "this script is `{}`; if that starts a Node.js program, profile it with `selfprof run COMMAND`{place}",
            shown(line)
        ),
    }
}

/// A simple command of a script with `selfprof run` before its program: `A=1 vite build` becomes
/// `A=1 selfprof run vite build`. `None` if the program cannot be profiled.
fn suggestion(command: &[Word], line: &str, search: &SearchPath) -> Option<String> {
    // `cross-env A=1 vite build` sets variables as a shell does.
    let is_prefix = |word: &&Word| word.text == "cross-env" || is_assignment(&word.text);
    let (prefix, program) = command.split_at(command.iter().take_while(is_prefix).count());
    let words: Vec<_> = program.iter().map(|word| word.text.clone()).collect();
    let range = program.first()?.range.start..program.last()?.range.end;
    let variables =
        prefix.iter().filter(|word| is_assignment(&word.text)).map(|word| &line[word.range.clone()]);
    let program = ["selfprof run", &line[range]];
    can_run(&words, search).then(|| variables.chain(program).collect::<Vec<_>>().join(" "))
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn can_run(words: &[String], search: &SearchPath) -> bool {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    words.first().is_some_and(|first| PackageManager::named(first).is_none())
        && NodeCommand::direct(&words, search).is_ok()
}

/// Text of a package.json or a command line, for a terminal.
fn shown(text: &str) -> String {
    let text = printable(text);
    match text.char_indices().find(|&(at, _)| at >= MAX_SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
