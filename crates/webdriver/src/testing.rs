//! What a request is understood as, without a server and without pages: for tests that make requests of any bytes.

use std::net::SocketAddr;
use std::sync::LazyLock;

use hyper::{HeaderMap, Method, header};
use serde_json::Value;
use webdriver::command::WebDriverCommand;

use crate::capabilities::Agreement;
use crate::router::Router;
use crate::trust::Trust;

/// What a server would make of a request before it asks a page.
#[derive(Debug)]
pub enum Answer {
    /// Whoever sent it may not send commands, for this reason.
    Refused(String),
    /// One of [WebDriver's errors](https://www.w3.org/TR/webdriver2/#errors), by its code.
    Failed(String),
    /// A session is to begin, with these capabilities.
    Session(Value),
    /// Any other command, of this session.
    Command(Option<String>),
}

/// Understands a request to a server on port 4444 that trusts no page. `headers` are `Host`, `Origin` and `Content-Type`; empty
/// ones are left out.
pub fn understand(method: &str, path: &str, headers: [&str; 3], body: &str) -> Answer {
    static ROUTER: LazyLock<Router> = LazyLock::new(Router::new);
    let failed = |code: &str| Answer::Failed(code.to_owned());
    let Ok(method) = Method::from_bytes(method.as_bytes()) else { return failed("unknown method") };
    let mut map = HeaderMap::new();
    for (name, text) in [header::HOST, header::ORIGIN, header::CONTENT_TYPE].into_iter().zip(headers) {
        if text.is_empty() {
            continue;
        }
        match text.parse() {
            Ok(value) => drop(map.insert(name, value)),
            // Hyper answers such a request itself.
            Err(_) => return Answer::Refused("a header is none".to_owned()),
        }
    }
    let address = SocketAddr::from(([127, 0, 0, 1], 4444));
    if let Some(reason) = Trust::default().refuses(address, &method, &map) {
        return Answer::Refused(reason);
    }
    let message = match ROUTER.message(&method, path, body) {
        Ok(message) => message,
        Err(error) => return failed(error.error_code()),
    };
    match message.command {
        WebDriverCommand::NewSession(parameters) => match Agreement::reach(&parameters) {
            Ok(agreement) => Answer::Session(agreement.describe()),
            Err(error) => failed(error.error_code()),
        },
        _ => Answer::Command(message.session_id),
    }
}
