//! <https://www.w3.org/TR/webdriver2/#elements>

use serde_json::{Value, json};
use webdriver::command::LocatorParameters;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};

use super::{Done, Session, value};
use crate::capabilities::LoadStrategy;

impl Session {
    pub(super) fn find_one(&self, root: Value, locator: &LocatorParameters) -> Done {
        match self.find(root, locator)? {
            Value::Array(mut found) if !found.is_empty() => Ok(value(found.swap_remove(0))),
            _ => {
                let message = format!("nothing matches {}", locator.value);
                Err(WebDriverError::new(ErrorStatus::NoSuchElement, message))
            }
        }
    }

    pub(super) fn find_all(&self, root: Value, locator: &LocatorParameters) -> Done {
        self.find(root, locator).map(value)
    }

    fn find(&self, root: Value, locator: &LocatorParameters) -> WebDriverResult<Value> {
        let mut wish = root;
        wish["using"] = serde_json::to_value(locator.using)?;
        wish["value"] = locator.value.as_str().into();
        self.call(
            "find",
            json!({
                "place": self.place.to_json(),
                "locator": wish,
                "timeout": self.command_timeout(),
                "implicit": self.agreement.timeouts.implicit,
            }),
        )
    }

    /// Does something that the page may answer by going elsewhere, and waits for that.
    pub(super) fn interact(&self, command: &str, parameters: Value) -> Done {
        let done = self.ask(command, parameters)?;
        if self.agreement.load_strategy != LoadStrategy::None {
            self.settle()?;
        }
        Ok(done)
    }
}
