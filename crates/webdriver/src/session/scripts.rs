//! <https://www.w3.org/TR/webdriver2/#executing-script>

use serde_json::json;
use webdriver::command::JavascriptCommandParameters;
use webdriver::error::{ErrorStatus, WebDriverError};

use super::{Done, Session, value};

impl Session {
    pub(super) fn execute(&self, script: &JavascriptCommandParameters, is_async: bool) -> Done {
        let Some(arguments) = &script.args else {
            return Err(WebDriverError::new(ErrorStatus::InvalidArgument, "args is not an array"));
        };
        self.call(
            "perform",
            json!({
                "place": self.place.to_json(),
                "command": "execute",
                "parameters": {
                    "script": script.script,
                    // As text: the page's own parser makes objects of the page of it.
                    "parameters": serde_json::to_string(arguments)?,
                    "isAsync": is_async,
                },
                "timeout": self.agreement.timeouts.script,
                "late": "script timeout",
            }),
        )
        .map(value)
    }
}
