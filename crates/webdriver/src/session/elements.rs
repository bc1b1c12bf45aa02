//! <https://www.w3.org/TR/webdriver2/#elements>

use serde_json::{Value, json};
use webdriver::command::LocatorParameters;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};

use super::state::{CommandResult, Session, value};
use crate::session_config::LoadStrategy;

impl Session {
    pub(super) fn find_one(&self, root: Value, locator: &LocatorParameters) -> CommandResult {
        match self.find(root, locator)? {
            Value::Array(mut found) if !found.is_empty() => Ok(value(found.swap_remove(0))),
            _ => {
                let message = format!("no element matches {}", locator.value);
                Err(WebDriverError::new(ErrorStatus::NoSuchElement, message))
            }
        }
    }

    pub(super) fn find_all(&self, root: Value, locator: &LocatorParameters) -> CommandResult {
        self.find(root, locator).map(value)
    }

    fn find(&self, root: Value, locator: &LocatorParameters) -> WebDriverResult<Value> {
        let mut query = root;
        query["using"] = serde_json::to_value(locator.using)?;
        query["value"] = locator.value.as_str().into();
        self.call(
            "find",
            json!({
                "context": self.context.to_json(),
                "locator": query,
                "timeout": self.command_timeout(),
                "implicit": self.config.timeouts.implicit,
            }),
        )
    }

    /// Performs an interaction, and waits for a navigation that it may start.
    pub(super) fn interact(&self, command: &str, parameters: Value) -> CommandResult {
        let done = self.ask(command, parameters)?;
        if self.config.load_strategy != LoadStrategy::None {
            self.wait_for_navigation()?;
        }
        Ok(done)
    }
}
