//! <https://www.w3.org/TR/webdriver2/#navigation>

use serde_json::{Value, json};
use url::Url;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::WebDriverResponse;

use super::browsing_context::BrowsingContext;
use super::state::{CommandResult, Session};

impl Session {
    pub(super) fn navigate(&mut self, url: &str) -> CommandResult {
        let url = Url::parse(url).map_err(|error| {
            WebDriverError::new(
                ErrorStatus::InvalidArgument,
                format!("{url} is not an absolute URL: {error}"),
            )
        })?;
        self.current_window()?;
        self.context = BrowsingContext::TOP;
        // A fragment navigation stays in the same document. After a timeout has ended a page, it has no document.
        let is_within = url.fragment().is_some()
            && self
                .document(BrowsingContext::TOP, "fragment", json!({ "url": url.as_str() }))
                .is_ok_and(|done| done == true);
        if !is_within {
            let mut parameters = self.load();
            parameters["url"] = url.as_str().into();
            self.call("navigate", parameters)?;
        }
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn traverse(&mut self, delta: i32) -> CommandResult {
        let mut parameters = self.load();
        parameters["delta"] = delta.into();
        parameters["context"] = BrowsingContext::TOP.to_json();
        parameters["scriptTimeout"] = self.command_timeout().into();
        self.context = BrowsingContext::TOP;
        self.call("traverse", parameters)?;
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn refresh(&mut self) -> CommandResult {
        self.context = BrowsingContext::TOP;
        self.call("reload", self.load())?;
        Ok(WebDriverResponse::Void)
    }

    /// Waits for a navigation that a command may have started.
    pub(super) fn wait_for_navigation(&self) -> WebDriverResult<()> {
        self.call("settle", self.load()).map(drop)
    }

    fn load(&self) -> Value {
        json!({
            "waitUntil": self.config.load_strategy.wait_until(),
            "timeout": self.config.timeouts.page_load,
        })
    }
}
