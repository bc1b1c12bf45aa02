//! The `#!` line of a program.

use super::shell_words;

/// The longest `#!` line that is read; Linux itself reads 256 bytes.
const MAX_BYTES: usize = 4096;

/// An interpreter, with what its `#!` line passes to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interpreter {
    /// Its name without directories.
    pub program: String,
    /// The options before the path of the program.
    pub options: Vec<String>,
    /// The variables that `env` sets.
    pub variables: Vec<(String, String)>,
}

impl Interpreter {
    /// Reads the first line of a file.
    pub fn of(file: &[u8]) -> Option<Self> {
        let start = file.strip_prefix(b"#!")?;
        let line = start.split(|&byte| byte == b'\n').next()?;
        let line = std::str::from_utf8(line.get(..line.len().min(MAX_BYTES))?).ok()?;
        let mut words = shell_words::split(line).into_iter().peekable();
        let mut program = words.next()?;
        let mut variables = Vec::new();
        if name(&program) == "env" {
            // Linux passes the rest of the line to `env` as one argument, which `-S` splits.
            if let Some(first) = words.next_if(|word| word.starts_with("-S")) {
                let attached = first.trim_start_matches("-S").to_owned();
                words = Some(attached)
                    .filter(|word| !word.is_empty())
                    .into_iter()
                    .chain(words)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .peekable();
            }
            while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
                variables.push((name.to_owned(), value.to_owned()));
                words.next();
            }
            program = words.next()?;
        }
        Some(Self { program: name(&program).to_owned(), options: words.collect(), variables })
    }

    /// Whether this is Node.js.
    pub fn is_node(&self) -> bool {
        matches!(self.program.as_str(), "node" | "nodejs")
    }

    /// Whether this is a shell.
    pub fn is_shell(&self) -> bool {
        matches!(self.program.as_str(), "sh" | "bash" | "dash")
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_read() {
        /// `expected` has the variables, the program and the options.
        #[track_caller]
        fn check(file: &str, expected: Option<&str>) {
            let words = |found: Interpreter| {
                let variables = found.variables.into_iter().map(|(name, value)| format!("{name}={value}"));
                variables.chain([found.program]).chain(found.options).collect::<Vec<_>>().join(" ")
            };
            assert_eq!(Interpreter::of(file.as_bytes()).map(words).as_deref(), expected);
        }
        check("#!/usr/bin/env node\nlet a;", Some("node"));
        check("#!/usr/bin/env node\r\n", Some("node"));
        check("#! /usr/local/bin/node", Some("node"));
        check("#!/usr/bin/node --expose-gc\n", Some("node --expose-gc"));
        check("#!/usr/bin/env -S node --expose-gc --import 'a b'\n", Some("node --expose-gc --import a b"));
        check("#!/usr/bin/env -Snode --expose-gc\n", Some("node --expose-gc"));
        check("#!/usr/bin/env -S A=1 B= node -r x\n", Some("A=1 B= node -r x"));
        check("#!/usr/bin/env -S deno run\n", Some("deno run"));
        check("#!/usr/bin/env\n", None);
        check("#!/usr/bin/env -S\n", None);
        check("#!\nnode", None);
        check("#!", None);
        check("node", None);
        check("", None);
    }

    #[test]
    fn a_line_that_is_not_text_has_no_interpreter() {
        assert_eq!(Interpreter::of(b"#!/bin/\xff\n"), None);
    }
}
