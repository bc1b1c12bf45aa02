//! A session: its pages, and the window and frame that its commands are about.

mod cookies;
mod elements;
mod navigation;
mod scripts;
mod windows;

use std::sync::Arc;

use serde_json::{Value, json};
use webdriver::command::{TimeoutsParameters, WebDriverCommand};
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{TimeoutsResponse, ValueResponse, WebDriverResponse};

use crate::capabilities::Agreement;
use crate::force_sample::ForceSample;
use crate::pages::Pages;

/// How long a command on a document may take when scripts have no timeout, in milliseconds.
const COMMAND_TIMEOUT: u64 = 30_000;
/// How long it may take at least: a client that gives scripts no time means those that it sends itself.
const LEAST_COMMAND_TIMEOUT: u64 = 1_000;

/// In milliseconds; none is for ever. <https://www.w3.org/TR/webdriver2/#timeouts>
#[derive(Clone, Debug)]
pub struct Timeouts {
    pub script: Option<u64>,
    pub page_load: Option<u64>,
    pub implicit: Option<u64>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { script: Some(30_000), page_load: Some(300_000), implicit: Some(0) }
    }
}

/// The current browsing context: a frame, and the document of the page that it is in. The host gives both numbers; frame 0
/// is the page itself, whatever its document.
#[derive(Clone, Copy, Debug)]
struct Place {
    frame: u64,
    document: u64,
}

impl Place {
    const TOP: Self = Self { frame: 0, document: 0 };

    fn to_json(self) -> Value {
        json!({ "frame": self.frame, "document": self.document })
    }

    fn of_json(value: &Value) -> Self {
        let number = |name| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        Self { frame: number("frame"), document: number("document") }
    }
}

pub struct Session {
    pages: Arc<dyn Pages>,
    agreement: Agreement,
    /// The handle of the current window; none when it was closed.
    window: Option<String>,
    place: Place,
}

type Done = WebDriverResult<WebDriverResponse>;

impl Session {
    /// Begins with one window.
    pub fn open(pages: Arc<dyn Pages>, agreement: Agreement) -> WebDriverResult<Self> {
        let mut session = Self { pages, agreement, window: None, place: Place::TOP };
        session.window = Some(session.open_window()?);
        Ok(session)
    }

    /// Does a command.
    pub fn perform(&mut self, command: WebDriverCommand<ForceSample>) -> Done {
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
                let Timeouts { script, page_load, implicit } = self.agreement.timeouts;
                Ok(WebDriverResponse::Timeouts(TimeoutsResponse::new(script, page_load, implicit)))
            }
            C::SetTimeouts(parameters) => self.set_timeouts(&parameters),

            C::Extension(ForceSample) => self.force_sample(),

            // A page that wants to ask its user something is told that the user has closed the dialogue.
            C::DismissAlert | C::AcceptAlert | C::GetAlertText | C::SendAlertText(_) => {
                Err(WebDriverError::new(ErrorStatus::NoSuchAlert, "pages open no dialogues"))
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
            _ => Err(unsupported("pages have nothing of the kind")),
        }
    }

    fn current_window(&self) -> WebDriverResult<String> {
        self.window
            .clone()
            .ok_or_else(|| WebDriverError::new(ErrorStatus::NoSuchWindow, "the current window was closed"))
    }

    /// Has the host do something in the current window.
    fn call(&self, method: &str, mut parameters: Value) -> WebDriverResult<Value> {
        parameters["window"] = self.current_window()?.into();
        Ok(self.pages.call(method, parameters)?)
    }

    /// Has the document of a frame do something.
    fn document(&self, place: Place, command: &str, parameters: Value) -> WebDriverResult<Value> {
        self.call(
            "perform",
            json!({
                "place": place.to_json(),
                "command": command,
                "parameters": parameters,
                "timeout": self.command_timeout(),
            }),
        )
    }

    /// Asks the current frame's document.
    fn ask(&self, command: &str, parameters: Value) -> Done {
        self.document(self.place, command, parameters).map(value)
    }

    /// Asks the window's document, whichever frame is the current one.
    fn ask_top(&self, command: &str, parameters: Value) -> Done {
        self.document(Place::TOP, command, parameters).map(value)
    }

    /// A command on a document runs the page's own listeners and getters, so scripts' timeout is its own, too.
    fn command_timeout(&self) -> u64 {
        self.agreement.timeouts.script.unwrap_or(COMMAND_TIMEOUT).max(LEAST_COMMAND_TIMEOUT)
    }

    fn set_timeouts(&mut self, parameters: &TimeoutsParameters) -> Done {
        let timeouts = &mut self.agreement.timeouts;
        timeouts.script = parameters.script.unwrap_or(timeouts.script);
        timeouts.page_load = parameters.page_load.unwrap_or(timeouts.page_load);
        timeouts.implicit = parameters.implicit.unwrap_or(timeouts.implicit);
        Ok(WebDriverResponse::Void)
    }

    /// <https://wicg.github.io/js-self-profiling/#force-sample>
    fn force_sample(&self) -> Done {
        let parameters = json!({ "place": self.place.to_json(), "timeout": self.command_timeout() });
        self.call("force sample", parameters)?;
        Ok(WebDriverResponse::Void)
    }
}

fn value(value: Value) -> WebDriverResponse {
    WebDriverResponse::Generic(ValueResponse(value))
}

fn unsupported(reason: &'static str) -> WebDriverError {
    WebDriverError::new(ErrorStatus::UnsupportedOperation, reason)
}
