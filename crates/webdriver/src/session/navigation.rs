//! <https://www.w3.org/TR/webdriver2/#navigation>

use serde_json::{Value, json};
use url::Url;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::WebDriverResponse;

use super::{Done, Place, Session};

impl Session {
    pub(super) fn navigate(&mut self, url: &str) -> Done {
        let url = Url::parse(url).map_err(|error| {
            WebDriverError::new(ErrorStatus::InvalidArgument, format!("{url} is no absolute URL: {error}"))
        })?;
        self.current_window()?;
        self.place = Place::TOP;
        // To another fragment of the same document: it stays. A page that was ended has none.
        let is_within = url.fragment().is_some()
            && self
                .document(Place::TOP, "fragment", json!({ "url": url.as_str() }))
                .is_ok_and(|done| done == true);
        if !is_within {
            let mut parameters = self.load();
            parameters["url"] = url.as_str().into();
            self.call("navigate", parameters)?;
        }
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn traverse(&mut self, delta: i32) -> Done {
        let mut parameters = self.load();
        parameters["delta"] = delta.into();
        parameters["place"] = Place::TOP.to_json();
        parameters["scriptTimeout"] = self.command_timeout().into();
        self.place = Place::TOP;
        self.call("traverse", parameters)?;
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn refresh(&mut self) -> Done {
        self.place = Place::TOP;
        self.call("reload", self.load())?;
        Ok(WebDriverResponse::Void)
    }

    /// Waits for a navigation that a command may have caused.
    pub(super) fn settle(&self) -> WebDriverResult<()> {
        self.call("settle", self.load()).map(drop)
    }

    fn load(&self) -> Value {
        json!({
            "waitUntil": self.agreement.load_strategy.wait_until(),
            "timeout": self.agreement.timeouts.page_load,
        })
    }
}
