//! The command to use instead of a script of package.json.

use crate::terminal::names::printable;

use super::package_json::PackageJson;
use super::search_path::SearchPath;
use super::shell_words::{self, Word};

/// The longest command of a script that is shown or suggested, in bytes.
const MAX_SHOWN: usize = 500;

/// What to do instead of starting a script of package.json.
pub fn hint_of_script(
    name: &str,
    arguments: &[String],
    package: Option<&PackageJson>,
    search: &SearchPath,
    can_run: impl Fn(&[String], &SearchPath) -> bool,
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
    // Subshells and other folders are not understood.
    let is_simple = !line.contains(['(', ')', '`'])
        && !commands.iter().any(|command| command.first().is_some_and(|word| word.text == "cd"));
    let suggestion = commands
        .iter()
        .filter(|_| is_simple)
        .find_map(|command| suggestion(command, line, |words| can_run(words, &search)));
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
fn suggestion(command: &[Word], line: &str, can_run: impl Fn(&[String]) -> bool) -> Option<String> {
    // `cross-env A=1 vite build` sets variables as a shell does.
    let is_prefix = |word: &&Word| word.text == "cross-env" || is_assignment(&word.text);
    let (prefix, program) = command.split_at(command.iter().take_while(is_prefix).count());
    let words: Vec<_> = program.iter().map(|word| word.text.clone()).collect();
    let range = program.first()?.range.start..program.last()?.range.end;
    let variables =
        prefix.iter().filter(|word| is_assignment(&word.text)).map(|word| &line[word.range.clone()]);
    let program = ["selfprof run", &line[range]];
    can_run(&words).then(|| variables.chain(program).collect::<Vec<_>>().join(" "))
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Text of a package.json or a command line, for a terminal.
pub fn shown(text: &str) -> String {
    let text = printable(text);
    match text.char_indices().find(|&(at, _)| at >= MAX_SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
