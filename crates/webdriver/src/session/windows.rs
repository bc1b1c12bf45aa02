//! <https://www.w3.org/TR/webdriver2/#contexts>

use serde_json::{Value, json};
use webdriver::common::FrameId;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{CloseWindowResponse, NewWindowResponse, WebDriverResponse, WindowRectResponse};

use super::browsing_context::BrowsingContext;
use super::state::{CommandResult, Session, value};

/// The size of a window as pages see it.
const SIZE: (i32, i32) = (1024, 768);

impl Session {
    /// Opens a window and returns its handle.
    pub(super) fn open_window(&self) -> WebDriverResult<String> {
        let opened = self.pages.call("open", json!({ "timeout": self.config.timeouts.page_load }))?;
        let handle = opened.get("window").and_then(Value::as_str);
        handle.map(str::to_owned).ok_or_else(|| {
            WebDriverError::new(ErrorStatus::UnknownError, "the page host returned no window handle")
        })
    }

    pub(super) fn new_window(&self, hint: Option<&str>) -> CommandResult {
        self.current_window()?;
        let typ = if hint == Some("window") { "window" } else { "tab" };
        Ok(WebDriverResponse::NewWindow(NewWindowResponse {
            handle: self.open_window()?,
            typ: typ.to_owned(),
        }))
    }

    fn list(&self) -> WebDriverResult<Vec<String>> {
        let Value::Array(handles) = self.pages.call("windows", json!({}))? else { return Ok(Vec::new()) };
        Ok(handles.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    pub(super) fn handles(&self) -> CommandResult {
        self.list().map(|handles| value(handles.into()))
    }

    pub(super) fn close_window(&mut self) -> CommandResult {
        self.call("close", json!({}))?;
        self.window = None;
        Ok(WebDriverResponse::CloseWindow(CloseWindowResponse(self.list()?)))
    }

    pub(super) fn switch_to_window(&mut self, handle: &str) -> CommandResult {
        if !self.list()?.iter().any(|known| known == handle) {
            let message = format!("no window has the handle {handle}");
            return Err(WebDriverError::new(ErrorStatus::NoSuchWindow, message));
        }
        self.window = Some(handle.to_owned());
        self.context = BrowsingContext::TOP;
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn switch_to_frame(&mut self, frame: &FrameId) -> CommandResult {
        self.current_window()?;
        let which = match frame {
            FrameId::Top => {
                self.context = BrowsingContext::TOP;
                return Ok(WebDriverResponse::Void);
            }
            FrameId::Short(index) => json!({ "index": index }),
            FrameId::Element(element) => json!({ "element": element.0 }),
        };
        let parameters =
            json!({ "context": self.context.to_json(), "which": which, "timeout": self.command_timeout() });
        self.context = BrowsingContext::of_json(&self.call("enter", parameters)?);
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn switch_to_parent_frame(&mut self) -> CommandResult {
        self.current_window()?;
        if self.context.frame != 0 {
            let parent = self.call("parent", json!({ "context": self.context.to_json() }))?;
            self.context = BrowsingContext::of_json(&parent);
        }
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn window_rect(&self) -> CommandResult {
        self.current_window()?;
        let (width, height) = SIZE;
        Ok(WebDriverResponse::WindowRect(WindowRectResponse { x: 0, y: 0, width, height }))
    }

    /// Shows or hides a page. Documents of a minimized window are hidden and their profilers paused.
    pub(super) fn set_visible(&self, is_visible: bool) -> CommandResult {
        self.call("visibility", json!({ "isVisible": is_visible, "timeout": self.command_timeout() }))?;
        self.window_rect()
    }
}
