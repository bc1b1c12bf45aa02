//! What hosts the pages: seen from here, something that can be asked to do things by name.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use webdriver::error::{ErrorStatus, WebDriverError};

/// Hosts pages, for one session after another or at once.
pub trait PageHost: Send + Sync + 'static {
    /// Begins to host the pages of a session.
    ///
    /// # Errors
    ///
    /// When there is nothing to host them with.
    fn start(&self, options: &PageOptions) -> Result<Arc<dyn Pages>, CallError>;
}

/// How a session wants its pages.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// The capability `acceptInsecureCerts`.
    pub accepts_insecure_certificates: bool,
}

/// The pages of one session. Methods and their parameters are those of `npm/lib/page/driver/driver.cjs`.
pub trait Pages: Send + Sync {
    /// Has something done and waits for it; any number of threads may call at once.
    ///
    /// # Errors
    ///
    /// What the pages answer, or that they are there no more.
    fn call(&self, method: &str, parameters: Value) -> Result<Value, CallError>;

    /// Ends all of them, whatever they are doing. Calls under way fail.
    fn end(&self);
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// One of [WebDriver's errors](https://www.w3.org/TR/webdriver2/#errors).
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// The stack of a script that threw, perhaps empty.
    pub stack: String,
}

impl CallError {
    /// An error without a stack.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), stack: String::new() }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CallError {}

impl From<CallError> for WebDriverError {
    fn from(error: CallError) -> Self {
        WebDriverError::new_with_data(ErrorStatus::from(error.code), error.message, None, Some(error.stack))
    }
}
