//! A session: its pages, and the window and frame that its commands apply to.

mod browsing_context;
mod cookies;
mod elements;
mod navigation;
mod scripts;
mod state;
mod windows;

use std::sync::Arc;

use serde_json::json;
use webdriver::command::{TimeoutsParameters, WebDriverCommand};
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{TimeoutsResponse, WebDriverResponse};

use crate::force_sample::ForceSample;
use crate::pages::Pages;
use crate::session_config::SessionConfig;
use crate::timeouts::Timeouts;

use browsing_context::BrowsingContext;
pub use state::Session;
use state::{CommandResult, value};

impl Session {
    /// Starts a session with one window.
    pub fn open(pages: Arc<dyn Pages>, config: SessionConfig) -> WebDriverResult<Self> {
        let mut session = Self { pages, config, window: None, context: BrowsingContext::TOP };
        session.window = Some(session.open_window()?);
        Ok(session)
    }

    /// Performs a command.
    pub fn perform(&mut self, command: WebDriverCommand<ForceSample>) -> CommandResult {
        use WebDriverCommand as C;
        match command {
            C::Get(parameters) => self.navigate(&parameters.url),
            C::GetCurrentUrl => self.ask_top("url", json!({})),
            C::GoBack => self.traverse(-1),
            C::GoForward => self.traverse(1),
            C::Refresh => self.refresh(),
            C::GetTitle => self.ask_top("title", json!({})),
            C::GetPageSource => self.ask("source", json!({})),

            C::GetWindowHandle => Ok(value(self.current_window()?.into())),
            C::GetWindowHandles => self.handles(),
            C::NewWindow(parameters) => self.new_window(parameters.type_hint.as_deref()),
            C::CloseWindow => self.close_window(),
            C::SwitchToWindow(parameters) => self.switch_to_window(&parameters.handle),
            C::SwitchToFrame(parameters) => self.switch_to_frame(&parameters.id),
            C::SwitchToParentFrame => self.switch_to_parent_frame(),
            C::GetWindowRect => self.window_rect(),
            C::MinimizeWindow => self.set_visible(false),
            C::MaximizeWindow | C::FullscreenWindow => self.set_visible(true),

            C::FindElement(locator) => self.find_one(json!({}), &locator),
            C::FindElements(locator) => self.find_all(json!({}), &locator),
            C::FindElementElement(root, locator) => self.find_one(json!({ "element": root.0 }), &locator),
            C::FindElementElements(root, locator) => self.find_all(json!({ "element": root.0 }), &locator),
            C::FindShadowRootElement(root, locator) => self.find_one(json!({ "shadow": root.0 }), &locator),
            C::FindShadowRootElements(root, locator) => self.find_all(json!({ "shadow": root.0 }), &locator),
            C::GetActiveElement => self.ask("active element", json!({})),
            C::GetShadowRoot(element) => self.ask("shadow root", json!({ "element": element.0 })),
            C::IsDisplayed(element) => self.ask("displayed", json!({ "element": element.0 })),
            C::IsSelected(element) => self.ask("selected", json!({ "element": element.0 })),
            C::IsEnabled(element) => self.ask("enabled", json!({ "element": element.0 })),
            C::GetElementText(element) => self.ask("text", json!({ "element": element.0 })),
            C::GetElementTagName(element) => self.ask("tag name", json!({ "element": element.0 })),
            C::GetElementAttribute(element, name) => {
                self.ask("attribute", json!({ "element": element.0, "name": name }))
            }
            C::GetElementProperty(element, name) => {
                self.ask("property", json!({ "element": element.0, "name": name }))
            }
            C::GetCSSValue(element, name) => self.ask("css", json!({ "element": element.0, "name": name })),
            C::ElementClick(element) => self.interact("click", json!({ "element": element.0 })),
            C::ElementClear(element) => self.interact("clear", json!({ "element": element.0 })),
            C::ElementSendKeys(element, keys) => {
                self.interact("send keys", json!({ "element": element.0, "text": keys.text }))
            }

            C::ExecuteScript(script) => self.execute(&script, false),
            C::ExecuteAsyncScript(script) => self.execute(&script, true),

            C::GetCookies => self.cookies(),
            C::GetNamedCookie(name) => self.cookie(&name),
            C::AddCookie(cookie) => self.add_cookie(&cookie),
            C::DeleteCookie(name) => self.delete_cookies(Some(&name)),
            C::DeleteCookies => self.delete_cookies(None),

            C::GetTimeouts => {
                let Timeouts { script, page_load, implicit } = self.config.timeouts;
                Ok(WebDriverResponse::Timeouts(TimeoutsResponse::new(script, page_load, implicit)))
            }
            C::SetTimeouts(parameters) => self.set_timeouts(&parameters),

            C::Extension(ForceSample) => self.force_sample(),

            // Dialogs of a page are dismissed immediately.
            C::DismissAlert | C::AcceptAlert | C::GetAlertText | C::SendAlertText(_) => {
                Err(WebDriverError::new(ErrorStatus::NoSuchAlert, "pages open no dialogs"))
            }
            C::ReleaseActions => Ok(WebDriverResponse::Void),
            C::TakeScreenshot | C::TakeElementScreenshot(_) | C::Print(_) => {
                Err(unsupported("nothing is painted"))
            }
            C::SetWindowRect(_) | C::GetElementRect(_) | C::PerformActions(_) => {
                Err(unsupported("pages have no layout"))
            }
            C::GetComputedLabel(_) | C::GetComputedRole(_) => {
                Err(unsupported("pages have no accessibility tree"))
            }
            _ => Err(unsupported("pages do not support this command")),
        }
    }

    fn set_timeouts(&mut self, parameters: &TimeoutsParameters) -> CommandResult {
        let timeouts = &mut self.config.timeouts;
        timeouts.script = parameters.script.unwrap_or(timeouts.script);
        timeouts.page_load = parameters.page_load.unwrap_or(timeouts.page_load);
        timeouts.implicit = parameters.implicit.unwrap_or(timeouts.implicit);
        Ok(WebDriverResponse::Void)
    }

    /// <https://wicg.github.io/js-self-profiling/#force-sample>
    fn force_sample(&self) -> CommandResult {
        let parameters = json!({ "context": self.context.to_json(), "timeout": self.command_timeout() });
        self.call("force sample", parameters)?;
        Ok(WebDriverResponse::Void)
    }
}

fn unsupported(reason: &'static str) -> WebDriverError {
    WebDriverError::new(ErrorStatus::UnsupportedOperation, reason)
}
