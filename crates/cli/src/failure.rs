//! Why a command did not do its job, in words for whoever typed it.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use crate::paint::Paint;
use crate::talk::say;

/// A failure, with what may help.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// The job failed: exit code 1.
    pub fn job(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: 1 }
    }

    /// The command was used wrongly: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, ..Self::job(message) }
    }

    /// Adds the error that caused the failure, and what caused that, in turn.
    pub fn because(mut self, error: &(dyn Error + 'static)) -> Self {
        let causes = std::iter::successors(Some(error), |&error| error.source());
        for cause in causes {
            self.message += &format!(": {cause}");
        }
        self
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells it on stderr. [`Display`](fmt::Display) has it without colour.
    pub fn report(&self) {
        let paint = Paint::for_stderr();
        say(format_args!("{} {}", paint.error("error:"), self.message));
        if let Some(hint) = &self.hint {
            say(format_args!("\n{} {hint}", paint.hint("hint:")));
        }
    }

    /// The exit code that tells whose fault it was.
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
