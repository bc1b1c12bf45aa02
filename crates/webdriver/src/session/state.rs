//! The state of a session, and calls to its pages.

use std::sync::Arc;

use serde_json::{Value, json};
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{ValueResponse, WebDriverResponse};

use super::browsing_context::BrowsingContext;
use crate::pages::Pages;
use crate::session_config::SessionConfig;

/// The timeout of a command on a document if scripts have no timeout, in milliseconds.
const COMMAND_TIMEOUT: u64 = 30_000;
/// The minimum timeout of a command: a client that sets a script timeout of 0 means its own scripts only.
const MIN_COMMAND_TIMEOUT: u64 = 1_000;

/// A session.
pub struct Session {
    pub(super) pages: Arc<dyn Pages>,
    pub(super) config: SessionConfig,
    /// The handle of the current window; `None` after it was closed.
    pub(super) window: Option<String>,
    /// The current browsing context of the window.
    pub(super) context: BrowsingContext,
}

/// The result of a command.
pub(super) type CommandResult = WebDriverResult<WebDriverResponse>;

impl Session {
    pub(super) fn current_window(&self) -> WebDriverResult<String> {
        self.window
            .clone()
            .ok_or_else(|| WebDriverError::new(ErrorStatus::NoSuchWindow, "the current window was closed"))
    }

    /// Calls a method of the page host on the current window.
    pub(super) fn call(&self, method: &str, mut parameters: Value) -> WebDriverResult<Value> {
        parameters["window"] = self.current_window()?.into();
        Ok(self.pages.call(method, parameters)?)
    }

    /// Runs a command in the document of a browsing context.
    pub(super) fn document(
        &self,
        context: BrowsingContext,
        command: &str,
        parameters: Value,
    ) -> WebDriverResult<Value> {
        self.call(
            "perform",
            json!({
                "context": context.to_json(),
                "command": command,
                "parameters": parameters,
                "timeout": self.command_timeout(),
            }),
        )
    }

    /// Runs a command in the document of the current browsing context.
    pub(super) fn ask(&self, command: &str, parameters: Value) -> CommandResult {
        self.document(self.context, command, parameters).map(value)
    }

    /// Runs a command in the document of the top-level browsing context.
    pub(super) fn ask_top(&self, command: &str, parameters: Value) -> CommandResult {
        self.document(BrowsingContext::TOP, command, parameters).map(value)
    }

    /// The timeout of a command on a document. Such a command may run the page's listeners and getters, so the script
    /// timeout applies.
    pub(super) fn command_timeout(&self) -> u64 {
        self.config.timeouts.script.unwrap_or(COMMAND_TIMEOUT).max(MIN_COMMAND_TIMEOUT)
    }
}

/// A response with this value.
pub(super) fn value(value: Value) -> WebDriverResponse {
    WebDriverResponse::Generic(ValueResponse(value))
}
