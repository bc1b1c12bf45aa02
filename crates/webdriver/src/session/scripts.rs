//! <https://www.w3.org/TR/webdriver2/#executing-script>

use serde_json::json;
use webdriver::command::JavascriptCommandParameters;
use webdriver::error::{ErrorStatus, WebDriverError};

use super::state::{CommandResult, Session, value};

impl Session {
    pub(super) fn execute(&self, script: &JavascriptCommandParameters, is_async: bool) -> CommandResult {
        let Some(arguments) = &script.args else {
            return Err(WebDriverError::new(ErrorStatus::InvalidArgument, "args is not an array"));
        };
        self.call(
            "perform",
            json!({
                "context": self.context.to_json(),
                "command": "execute",
                "parameters": {
                    "script": script.script,
                    // As text: the page parses it, so that the objects belong to the page's realm.
                    "parameters": serde_json::to_string(arguments)?,
                    "isAsync": is_async,
                },
                "timeout": self.config.timeouts.script,
                "timeoutError": "script timeout",
            }),
        )
        .map(value)
    }
}
