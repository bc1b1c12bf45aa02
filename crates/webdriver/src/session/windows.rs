//! <https://www.w3.org/TR/webdriver2/#contexts>

use serde_json::{Value, json};
use webdriver::common::FrameId;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{CloseWindowResponse, NewWindowResponse, WebDriverResponse, WindowRectResponse};

use super::{Done, Place, Session, value};

/// The size that pages believe to have.
const SIZE: (i32, i32) = (1024, 768);

impl Session {
    /// Opens a window and gives its handle.
    pub(super) fn open_window(&self) -> WebDriverResult<String> {
        let opened = self.pages.call("open", json!({ "timeout": self.agreement.timeouts.page_load }))?;
        let handle = opened.get("window").and_then(Value::as_str);
        handle.map(str::to_owned).ok_or_else(|| {
            WebDriverError::new(ErrorStatus::UnknownError, "the host gave the window no handle")
        })
    }

    pub(super) fn new_window(&self, hint: Option<&str>) -> Done {
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

    pub(super) fn handles(&self) -> Done {
        self.list().map(|handles| value(handles.into()))
    }

    pub(super) fn close_window(&mut self) -> Done {
        self.call("close", json!({}))?;
        self.window = None;
        Ok(WebDriverResponse::CloseWindow(CloseWindowResponse(self.list()?)))
    }

    pub(super) fn switch_to_window(&mut self, handle: &str) -> Done {
        if !self.list()?.iter().any(|known| known == handle) {
            let message = format!("there is no window {handle}");
            return Err(WebDriverError::new(ErrorStatus::NoSuchWindow, message));
        }
        self.window = Some(handle.to_owned());
        self.place = Place::TOP;
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn switch_to_frame(&mut self, frame: &FrameId) -> Done {
        self.current_window()?;
        let which = match frame {
            FrameId::Top => {
                self.place = Place::TOP;
                return Ok(WebDriverResponse::Void);
            }
            FrameId::Short(index) => json!({ "index": index }),
            FrameId::Element(element) => json!({ "element": element.0 }),
        };
        let parameters =
            json!({ "place": self.place.to_json(), "which": which, "timeout": self.command_timeout() });
        self.place = Place::of_json(&self.call("enter", parameters)?);
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn switch_to_parent_frame(&mut self) -> Done {
        self.current_window()?;
        if self.place.frame != 0 {
            let parent = self.call("parent", json!({ "place": self.place.to_json() }))?;
            self.place = Place::of_json(&parent);
        }
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn window_rect(&self) -> Done {
        self.current_window()?;
        let (width, height) = SIZE;
        Ok(WebDriverResponse::WindowRect(WindowRectResponse { x: 0, y: 0, width, height }))
    }

    /// A minimised window is a page in the background: its documents are hidden and its profilers paused.
    pub(super) fn set_visible(&self, is_visible: bool) -> Done {
        self.call("visibility", json!({ "isVisible": is_visible, "timeout": self.command_timeout() }))?;
        self.window_rect()
    }
}
