//! The configuration of a session, from its capabilities. <https://www.w3.org/TR/webdriver2/#capabilities>

use serde_json::{Map, Value, json};
use webdriver::capabilities::{BrowserCapabilities, Capabilities, CapabilitiesMatching};
use webdriver::command::NewSessionParameters;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};

use crate::timeouts::Timeouts;

const NAME: &str = "selfprof";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const PLATFORM: &str = std::env::consts::OS;

/// When a navigation is complete. <https://www.w3.org/TR/webdriver2/#dfn-page-load-strategy>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadStrategy {
    Normal,
    Eager,
    None,
}

impl LoadStrategy {
    /// The event that pages wait for.
    pub fn wait_until(self) -> &'static str {
        match self {
            Self::Normal => "load",
            Self::Eager => "domcontentloaded",
            Self::None => "commit",
        }
    }
}

/// The configuration of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    pub accepts_insecure_certificates: bool,
    pub load_strategy: LoadStrategy,
    pub timeouts: Timeouts,
    prompts: Value,
}

impl SessionConfig {
    /// Matches the requested capabilities with the supported ones.
    ///
    /// # Errors
    ///
    /// `invalid argument` for malformed capabilities, `session not created` for unsupported ones.
    pub fn negotiate(parameters: &NewSessionParameters) -> WebDriverResult<Self> {
        let Some(matched) = parameters.match_browser(&mut Supported)? else {
            let message = format!(
                "none of the requested capabilities matches browser `{NAME}` on platform `{PLATFORM}`"
            );
            return Err(WebDriverError::new(ErrorStatus::SessionNotCreated, message));
        };
        let mut timeouts = Timeouts::default();
        if let Some(Value::Object(wanted)) = matched.get("timeouts") {
            // Already validated: null or an integer.
            let time = |value: &Value| value.as_f64().map(|milliseconds| milliseconds as u64);
            timeouts.script = wanted.get("script").map_or(timeouts.script, time);
            timeouts.page_load = wanted.get("pageLoad").map_or(timeouts.page_load, time);
            timeouts.implicit = wanted.get("implicit").map_or(timeouts.implicit, time);
        }
        Ok(Self {
            accepts_insecure_certificates: matched.get("acceptInsecureCerts") == Some(&Value::Bool(true)),
            load_strategy: match matched.get("pageLoadStrategy").and_then(Value::as_str) {
                Some("none") => LoadStrategy::None,
                Some("eager") => LoadStrategy::Eager,
                _ => LoadStrategy::Normal,
            },
            timeouts,
            prompts: matched
                .get("unhandledPromptBehavior")
                .cloned()
                .unwrap_or_else(|| json!("dismiss and notify")),
        })
    }

    /// The capabilities in the response.
    pub fn to_json(&self) -> Value {
        json!({
            "browserName": NAME,
            "browserVersion": VERSION,
            "platformName": PLATFORM,
            "acceptInsecureCerts": self.accepts_insecure_certificates,
            "pageLoadStrategy": match self.load_strategy {
                LoadStrategy::Normal => "normal",
                LoadStrategy::Eager => "eager",
                LoadStrategy::None => "none",
            },
            "proxy": {},
            "setWindowRect": false,
            "strictFileInteractability": false,
            "timeouts": {
                "script": self.timeouts.script,
                "pageLoad": self.timeouts.page_load,
                "implicit": self.timeouts.implicit,
            },
            "unhandledPromptBehavior": self.prompts,
        })
    }
}

/// The supported capabilities.
struct Supported;

/// Defines unsupported capabilities.
macro_rules! unsupported {
    ($($capability:ident)*) => {
        $(fn $capability(&mut self, _: &Capabilities) -> WebDriverResult<bool> {
            Ok(false)
        })*
    };
}

impl BrowserCapabilities for Supported {
    fn init(&mut self, _: &Capabilities) {}

    fn browser_name(&mut self, _: &Capabilities) -> WebDriverResult<Option<String>> {
        Ok(Some(NAME.to_owned()))
    }

    fn browser_version(&mut self, _: &Capabilities) -> WebDriverResult<Option<String>> {
        Ok(Some(VERSION.to_owned()))
    }

    fn compare_browser_version(&mut self, version: &str, comparison: &str) -> WebDriverResult<bool> {
        Ok(version == comparison)
    }

    fn platform_name(&mut self, _: &Capabilities) -> WebDriverResult<Option<String>> {
        Ok(Some(PLATFORM.to_owned()))
    }

    fn accept_insecure_certs(&mut self, _: &Capabilities) -> WebDriverResult<bool> {
        Ok(true)
    }

    unsupported! {
        set_window_rect
        strict_file_interactability
        web_socket_url
        webauthn_virtual_authenticators
        webauthn_extension_uvm
        webauthn_extension_prf
        webauthn_extension_large_blob
        webauthn_extension_cred_blob
    }

    fn accept_proxy(&mut self, proxy: &Map<String, Value>, _: &Capabilities) -> WebDriverResult<bool> {
        // Proxies are not supported.
        Ok(proxy.get("proxyType").is_none_or(|kind| kind == "direct" || kind == "system"))
    }

    fn validate_custom(&mut self, _: &str, _: &Value) -> WebDriverResult<()> {
        Ok(())
    }

    fn accept_custom(&mut self, _: &str, _: &Value, _: &Capabilities) -> WebDriverResult<bool> {
        // Clients also send capabilities that are meant for other browsers.
        Ok(true)
    }
}
