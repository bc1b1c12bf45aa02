//! Errors of a command, as the user sees them.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use selfprof_http::RequestError;

use crate::terminal::color::Colors;
use crate::terminal::messages::say;
use crate::terminal::names::printable;

/// Why a command failed, with a hint on how to fix it.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// The command failed: exit code 1.
    pub fn job(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: 1 }
    }

    /// The command was used wrongly: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, ..Self::job(message) }
    }

    /// Appends the error that caused the failure, and the chain of its sources.
    pub fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        let causes = std::iter::successors(Some(error), |&error| error.source());
        for cause in causes {
            self.message += &format!(": {cause}");
        }
        self
    }

    /// Appends why a request failed, and hints at what to do if that is known.
    pub fn because_of_request(self, error: &RequestError) -> Self {
        let failure = self.because(error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Adds a hint on what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the failure to stderr. [`Display`](fmt::Display) formats it without color.
    pub fn report(&self) {
        let colors = Colors::for_stderr();
        say(format_args!("{} {}", colors.error("error:"), printable_lines(&self.message)));
        if let Some(hint) = &self.hint {
            say(format_args!("\n{} {}", colors.hint("hint:"), printable_lines(hint)));
        }
    }

    /// The exit code: 1 for a failed command, 2 for wrong usage.
    pub fn exit_code(&self) -> ExitCode {
        self.code.into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " (hint: {hint})"))
    }
}

/// The text as the terminal can take it: it may be of a server, a page or a file.
fn printable_lines(text: &str) -> String {
    text.replace('\t', "    ").split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_do_not_reach_the_terminal_as_they_are() {
        assert_eq!(
            printable_lines("a\nb \u{9b}31mc \u{1b}]0;d\u{7}"),
            "a\nb \u{fffd}31mc \u{fffd}]0;d\u{fffd}"
        );
    }
}
