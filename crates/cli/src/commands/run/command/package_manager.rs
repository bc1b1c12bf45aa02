//! npm, yarn and pnpm start programs in other processes, which is an error so far. The hint names the command to use.

use std::ffi::{OsStr, OsString};

use super::package_json::PackageJson;
use super::search_path::SearchPath;
use super::shell_words;
use super::suggestion::{self, shown};

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

    /// What to do instead of this package manager with these words. `can_run` says which commands can be profiled.
    pub fn hint(
        self,
        words: &[OsString],
        search: &SearchPath,
        can_run: impl Fn(&[String], &SearchPath) -> bool,
    ) -> String {
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let package = PackageJson::nearest(&search.directory);
        match self.target(&words, package.as_ref(), search) {
            Some(Target::Script(name, arguments)) => {
                suggestion::hint_of_script(&name, &arguments, package.as_ref(), search, can_run)
            }
            Some(Target::Program(words)) if can_run(&words, search) => {
                let words: Vec<_> = words.iter().map(|word| shell_words::quoted(word)).collect();
                format!("start the program directly: `selfprof run {}`", shown(&words.join(" ")))
            }
            _ => "name the program itself, e.g. `selfprof run eslint .`".to_owned(),
        }
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
