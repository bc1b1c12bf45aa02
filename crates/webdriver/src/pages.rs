//! The interface of the page host.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use webdriver::error::{ErrorStatus, WebDriverError};

/// Hosts the pages of sessions.
pub trait PageHost: Send + Sync + 'static {
    /// Starts hosting the pages of a session.
    ///
    /// # Errors
    ///
    /// If the page host cannot be started.
    fn start(&self, options: &PageOptions) -> Result<Arc<dyn Pages>, CallError>;
}

/// Options for the pages of a session.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// The capability `acceptInsecureCerts`.
    pub accepts_insecure_certificates: bool,
}

/// The pages of one session. `packages/page/src/host/methods.cjs` defines the methods and their parameters.
pub trait Pages: Send + Sync {
    /// Calls a method and waits for its result. Any number of threads may call at once.
    ///
    /// # Errors
    ///
    /// If the method fails, or the page host has ended.
    fn call(&self, method: &str, parameters: Value) -> Result<Value, CallError>;

    /// Ends all pages, whatever they are doing. Pending calls fail.
    fn end(&self);
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// An [error code of WebDriver](https://www.w3.org/TR/webdriver2/#errors).
    pub code: String,
    /// The reason.
    pub message: String,
    /// The stack of a script that threw; may be empty.
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
