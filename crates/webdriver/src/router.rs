//! Routing a method and a path to a command. <https://www.w3.org/TR/webdriver2/#endpoints>

use hyper::Method;
use percent_encoding::percent_decode_str;
use webdriver::Parameters;
use webdriver::command::WebDriverMessage;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::httpapi::{Route, standard_routes};

use crate::force_sample::{self, ForceSampleRoute};

/// A command with the id of its session.
pub type Message = WebDriverMessage<ForceSampleRoute>;

/// How many values the body of a request may have: arguments of a script.
const MAX_VALUES: usize = 1_000_000;

/// All routes, with their paths split into parts.
pub struct Router {
    routes: Vec<(Method, Vec<Part>, Route<ForceSampleRoute>)>,
}

enum Part {
    Text(&'static str),
    Parameter(&'static str),
}

impl Router {
    /// The routes of the protocol and of the extension command.
    pub fn new() -> Self {
        let mut routes = standard_routes();
        routes.push((Method::POST, force_sample::PATH, Route::Extension(ForceSampleRoute)));
        let routes = routes.into_iter().map(|(method, path, route)| (method, parts(path), route)).collect();
        Self { routes }
    }

    /// The command of a request.
    ///
    /// # Errors
    ///
    /// `unknown command` for an unknown path, `unknown method` for a path without this method, and `invalid argument`
    /// for an invalid body.
    pub fn message(&self, method: &Method, path: &str, body: &str) -> WebDriverResult<Message> {
        let path: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
        let mut is_known = false;
        for (wanted, parts, route) in &self.routes {
            let Some(parameters) = matched(parts, &path) else { continue };
            is_known = true;
            if wanted == method {
                check_size(body)?;
                return Message::from_http(route.clone(), &parameters, body, method == Method::POST);
            }
        }
        let name = path.join("/");
        Err(if is_known {
            WebDriverError::new(ErrorStatus::UnknownMethod, format!("/{name} does not support {method}"))
        } else {
            WebDriverError::new(ErrorStatus::UnknownCommand, format!("/{name} is not a command"))
        })
    }
}

/// Rejects a body with so many values that reading it would take gigabytes of memory.
fn check_size(body: &str) -> WebDriverResult<()> {
    let (mut values, mut is_text, mut is_escaped) = (0, false, false);
    for byte in body.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b':' | b'[' | b'{' if !is_text => values += 1,
            _ => {}
        }
    }
    if values > MAX_VALUES {
        let message = format!("the body of the request has more than {MAX_VALUES} values");
        return Err(WebDriverError::new(ErrorStatus::InvalidArgument, message));
    }
    Ok(())
}

fn parts(path: &'static str) -> Vec<Part> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts
        .map(|part| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => Part::Parameter(name),
            None => Part::Text(part),
        })
        .collect()
}

fn matched(parts: &[Part], path: &[String]) -> Option<Parameters> {
    if parts.len() != path.len() {
        return None;
    }
    let mut parameters = Parameters::new();
    for (part, given) in parts.iter().zip(path) {
        match part {
            Part::Text(text) if text == given => {}
            Part::Text(_) => return None,
            Part::Parameter(name) => {
                parameters.insert((*name).to_owned(), given.clone());
            }
        }
    }
    Some(parameters)
}

/// A percent-decoded part of a path.
fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use webdriver::command::WebDriverCommand;
    use webdriver::common::WebElement;

    use super::*;
    use crate::force_sample::ForceSample;

    #[track_caller]
    fn check(method: Method, path: &str, body: &str, expected: Result<Message, &str>) {
        let message = Router::new().message(&method, path, body);
        match expected {
            Ok(expected) => assert_eq!(message.unwrap(), expected, "{path}"),
            Err(code) => assert_eq!(message.unwrap_err().error_code(), code, "{path}"),
        }
    }

    fn of_session(command: WebDriverCommand<ForceSample>) -> Result<Message, &'static str> {
        Ok(Message::new(Some("7".to_owned()), command))
    }

    #[test]
    fn requests_become_commands() {
        check(Method::GET, "/status", "", Ok(Message::new(None, WebDriverCommand::Status)));
        check(
            Method::POST,
            "/session/7/forcesample",
            "{}",
            of_session(WebDriverCommand::Extension(ForceSample)),
        );
        let element = WebElement("window1.1.0.5".to_owned());
        check(
            Method::GET,
            "/session/7/element/window1.1.0.5/attribute/data%2Fx%20y+z",
            "",
            of_session(WebDriverCommand::GetElementAttribute(element, "data/x y+z".to_owned())),
        );
        check(Method::GET, "/session/7/element/active", "", of_session(WebDriverCommand::GetActiveElement));
    }

    #[test]
    fn bodies_of_many_values_are_refused() {
        // What is in texts is no value.
        let texts = r#""\\\",,,[[[{{{:::","#;
        let run = |argument: &str, count| {
            let body = format!(r#"{{"script":"","args":[{}1]}}"#, argument.repeat(count));
            Router::new().message(&Method::POST, "/session/7/execute/sync", &body)
        };
        assert!(run(texts, 900_000).is_ok());
        assert!(run("1,", 900_000).is_ok());
        assert_eq!(run("1,", 1_000_001).unwrap_err().error_code(), "invalid argument");
    }

    #[test]
    fn invalid_requests_are_webdriver_errors() {
        check(Method::GET, "/", "", Err("unknown command"));
        check(Method::GET, "/session/7/elephant", "", Err("unknown command"));
        check(Method::GET, "/session/7/forcesample/now", "", Err("unknown command"));
        check(Method::GET, "/session/7/forcesample", "", Err("unknown method"));
        check(Method::DELETE, "/status", "", Err("unknown method"));
        check(Method::POST, "/session/7/forcesample", "", Err("invalid argument"));
        check(Method::POST, "/session/7/forcesample", "[]", Err("invalid argument"));
        check(Method::POST, "/session/7/url", r#"{"url": 5}"#, Err("invalid argument"));
        check(Method::POST, "/session/7/url", r#"{"url": "#, Err("invalid argument"));
    }
}
