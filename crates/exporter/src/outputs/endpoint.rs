//! A receiver that speaks HTTP.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use selfprof_http::{Client, Request, StatusCode, TimeLimits};
use url::Url;

use super::SendError;
use crate::settings::Settings;

/// How long a request may take. Of the answer, the status says what matters.
const TIME: TimeLimits = TimeLimits {
    connect: Duration::from_secs(10),
    whole: Duration::from_secs(30),
    body: Duration::from_secs(5),
};

/// How much of an answer is read.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// A receiver that speaks HTTP.
pub struct Endpoint {
    client: Client,
    /// Where to.
    pub url: Url,
    /// The headers with keys, and those of the settings.
    private: BTreeMap<String, String>,
}

impl Endpoint {
    /// The endpoint with this path below the URL of the settings, unless the URL has it already.
    pub fn new(settings: &Settings, path: &str) -> Self {
        // Settings without a URL were refused before.
        let mut url = settings.url().unwrap_or_else(unreachable_url);
        let base = url.path().trim_end_matches('/').to_owned();
        if !base.ends_with(path) {
            url.set_path(&format!("{base}{path}"));
        }
        Self { client: Client::new(TIME), url, private: settings.headers.clone() }
    }

    /// Sends the key as a bearer token, unless the settings have another authorization.
    pub fn with_bearer(mut self, key: Option<&str>) -> Self {
        let is_given = self.private.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if let (Some(key), false) = (key, is_given) {
            self.private.insert("authorization".to_owned(), format!("Bearer {key}"));
        }
        self
    }

    /// Posts a body to the URL. Returns the beginning of the answer.
    pub fn post(&self, url: Url, headers: &[(&str, &str)], body: &[u8]) -> Result<Vec<u8>, SendError> {
        let request = Request { url, private: self.private.clone(), headers };
        let response = self.client.post(&request, body).map_err(SendError::later)?;
        let status = response.status;
        let after = response.header("retry-after").and_then(|value| seconds(&value, SystemTime::now()));
        // The status says what matters. The rest of a long answer is left to the server.
        let answer = response.read_beginning(MAX_ANSWER_BYTES);
        if status.is_success() {
            return Ok(answer);
        }
        let reason = format!("the answer is {}", shown(status, &answer));
        Err(match may_succeed_later(status) {
            true => SendError::Later { reason, after },
            false => SendError::Never { reason },
        })
    }
}

/// A URL that no server has.
fn unreachable_url() -> Url {
    let text = "http://invalid.";
    Url::parse(text).unwrap_or_else(|_| unreachable!("{text} is a URL"))
}

/// Whether the same request may succeed later. <https://www.rfc-editor.org/rfc/rfc9110#section-15>
fn may_succeed_later(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429) || !status.is_client_error()
}

/// An answer for messages: the status and the beginning of the text.
fn shown(status: StatusCode, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text: String = text.trim().chars().take(200).collect();
    let separator = if text.is_empty() { "" } else { ": " };
    format!("{}{separator}{text}", status.as_u16())
}

/// <https://www.rfc-editor.org/rfc/rfc9110#field.retry-after>
fn seconds(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_when_to_come_back() {
        let now = httpdate::parse_http_date("Mon, 23 Nov 2026 12:00:00 GMT").unwrap();
        #[track_caller]
        fn check(value: &str, now: SystemTime, expected: Option<u64>) {
            assert_eq!(seconds(value, now).map(|wait| wait.as_secs()), expected);
        }
        check("7", now, Some(7));
        check("Mon, 23 Nov 2026 12:00:30 GMT", now, Some(30));
        check("Mon, 23 Nov 2026 11:00:00 GMT", now, Some(0));
        check("-1", now, None);
        check("soon", now, None);
    }
}
