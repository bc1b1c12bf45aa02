//! Colour, where it is wanted. It never carries meaning of its own.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal};

/// Whether one of the standard streams gets colour.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    is_wanted: bool,
}

impl Paint {
    pub fn for_stdout() -> Self {
        Self::for_stream(&io::stdout())
    }

    pub fn for_stderr() -> Self {
        Self::for_stream(&io::stderr())
    }

    /// On a terminal that can show colour, unless [`NO_COLOR`](https://no-color.org) is set to anything.
    fn for_stream(stream: &impl IsTerminal) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { is_wanted: stream.is_terminal() && !is_set("NO_COLOR") && !is_dumb }
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
        Painted { code: self.is_wanted.then_some(code), text }
    }
}

/// Text between the escape sequence of a colour (ECMA-48, SGR) and that of none.
struct Painted<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "\x1b[{code}m{}\x1b[0m", self.text),
            None => self.text.fmt(f),
        }
    }
}
