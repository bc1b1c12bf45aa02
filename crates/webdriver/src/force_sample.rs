//! The extension command of the JS Self-Profiling draft.
//! <https://wicg.github.io/js-self-profiling/#automation>

use serde_json::Value;
use webdriver::Parameters;
use webdriver::command::{WebDriverCommand, WebDriverExtensionCommand};
use webdriver::error::WebDriverResult;
use webdriver::httpapi::WebDriverExtensionRoute;

/// `POST /session/{session id}/forcesample`
pub const PATH: &str = "/session/{sessionId}/forcesample";

/// The route of the extension command.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceSampleRoute;

/// Makes each started profiling session of the current browsing context take a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceSample;

impl WebDriverExtensionRoute for ForceSampleRoute {
    type Command = ForceSample;

    fn command(&self, _: &Parameters, _: &Value) -> WebDriverResult<WebDriverCommand<ForceSample>> {
        Ok(WebDriverCommand::Extension(ForceSample))
    }
}

impl WebDriverExtensionCommand for ForceSample {
    fn parameters_json(&self) -> Option<Value> {
        None
    }
}
