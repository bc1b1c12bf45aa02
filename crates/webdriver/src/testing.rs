//! Handling requests without a server and without pages, for fuzzing.

use std::net::SocketAddr;
use std::sync::LazyLock;

use hyper::{HeaderMap, Method, header};
use serde_json::Value;
use webdriver::command::WebDriverCommand;

use crate::router::Router;
use crate::session_config::SessionConfig;
use crate::trust::Trust;

/// What the server does with a request.
#[derive(Debug)]
pub enum Outcome {
    /// The request is rejected for this reason, because its sender is not trusted.
    Rejected(String),
    /// The request fails with this [error code](https://www.w3.org/TR/webdriver2/#errors).
    Failed(String),
    /// A new session is created with these capabilities.
    NewSession(Value),
    /// Any other command, with the id of its session.
    Command(Option<String>),
}

/// Handles a request to a server on port 4444 that trusts no page. `headers` are `Host`, `Origin` and `Content-Type`;
/// empty ones are omitted.
pub fn handle(method: &str, path: &str, headers: [&str; 3], body: &str) -> Outcome {
    static ROUTER: LazyLock<Router> = LazyLock::new(Router::new);
    let failed = |code: &str| Outcome::Failed(code.to_owned());
    let Ok(method) = Method::from_bytes(method.as_bytes()) else { return failed("unknown method") };
    let mut map = HeaderMap::new();
    for (name, text) in [header::HOST, header::ORIGIN, header::CONTENT_TYPE].into_iter().zip(headers) {
        if text.is_empty() {
            continue;
        }
        match text.parse() {
            Ok(value) => drop(map.insert(name, value)),
            // Hyper itself rejects such a request.
            Err(_) => return Outcome::Rejected("a header is invalid".to_owned()),
        }
    }
    let address = SocketAddr::from(([127, 0, 0, 1], 4444));
    if let Some(reason) = Trust::default().rejects(address, &method, &map) {
        return Outcome::Rejected(reason);
    }
    let message = match ROUTER.message(&method, path, body) {
        Ok(message) => message,
        Err(error) => return failed(error.error_code()),
    };
    match message.command {
        WebDriverCommand::NewSession(parameters) => match SessionConfig::negotiate(&parameters) {
            Ok(config) => Outcome::NewSession(config.to_json()),
            Err(error) => failed(error.error_code()),
        },
        _ => Outcome::Command(message.session_id),
    }
}
