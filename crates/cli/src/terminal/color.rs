//! Colored text. Color never carries meaning of its own.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal};

/// The colors of one of the standard streams, if it shows any.
#[derive(Clone, Copy, Debug)]
pub struct Colors {
    is_enabled: bool,
}

impl Colors {
    pub fn for_stdout() -> Self {
        Self::for_stream(&io::stdout())
    }

    pub fn for_stderr() -> Self {
        Self::for_stream(&io::stderr())
    }

    /// Color is for terminals that support it, unless [`NO_COLOR`](https://no-color.org) is set.
    fn for_stream(stream: &impl IsTerminal) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { is_enabled: stream.is_terminal() && !is_set("NO_COLOR") && !is_dumb }
    }

    pub fn error<T: Display>(self, text: T) -> impl Display {
        self.with("1;31", text)
    }

    pub fn warning<T: Display>(self, text: T) -> impl Display {
        self.with("1;33", text)
    }

    pub fn hint<T: Display>(self, text: T) -> impl Display {
        self.with("1;36", text)
    }

    pub fn heading<T: Display>(self, text: T) -> impl Display {
        self.with("1", text)
    }

    fn with<T: Display>(self, code: &'static str, text: T) -> impl Display {
        Colored { code: self.is_enabled.then_some(code), text }
    }
}

/// Text between the escape sequences (ECMA-48, SGR) that set and reset a color.
struct Colored<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: Display> Display for Colored<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "\x1b[{code}m{}\x1b[0m", self.text),
            None => self.text.fmt(f),
        }
    }
}
