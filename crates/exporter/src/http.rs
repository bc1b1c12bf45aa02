//! Requests: with time limits, few redirects, and short answers.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use url::Url;

/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a whole request may take.
const WHOLE: Duration = Duration::from_secs(30);

/// How long the body of an answer may take. The status says what matters.
const ANSWER: Duration = Duration::from_secs(5);

/// Connections are kept for requests that follow at once; servers close them before the next period.
const IDLE: Duration = Duration::from_secs(1);

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 3;

/// How much of an answer is read.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// Sends requests.
pub struct Client {
    agent: Agent,
}

/// What is sent.
#[derive(Debug)]
pub struct Request<'a> {
    /// Where to.
    pub url: Url,
    /// The headers for the origin of this URL and no other one: keys and what the settings say.
    pub private: BTreeMap<String, String>,
    /// The other headers.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: &'a [u8],
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// How long the server wants to be left alone.
    pub retry_after: Option<Duration>,
    /// The beginning of the body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Whether the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the same request may succeed later. <https://www.rfc-editor.org/rfc/rfc9110#section-15>
    pub fn may_succeed_later(&self) -> bool {
        matches!(self.status, 408 | 425 | 429) || !(400..500).contains(&self.status)
    }
}

/// The answer for messages: the status and the beginning of the text.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.body);
        let text: String = text.trim().chars().take(200).collect();
        let separator = if text.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{text}", self.status)
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum RequestError {
    /// The connection or the server failed.
    Failed(Box<ureq::Error>),
    /// A redirect leads nowhere, or where it must not.
    Redirect(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "{error}"),
            Self::Redirect(reason) => write!(f, "redirect: {reason}"),
        }
    }
}

impl std::error::Error for RequestError {}

impl Client {
    /// A client that trusts what the system trusts. Proxies come from the environment (`HTTPS_PROXY`, `NO_PROXY` and so on).
    pub fn new() -> Self {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // They are followed here.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(WHOLE))
            .timeout_recv_body(Some(ANSWER))
            .max_idle_age(IDLE)
            .user_agent(concat!("selfprof/", env!("CARGO_PKG_VERSION")))
            .accept("*/*")
            .tls_config(tls)
            .build();
        Self { agent: config.new_agent() }
    }

    /// Posts the request, and follows redirects.
    pub fn post(&self, request: &Request<'_>) -> Result<Answer, RequestError> {
        let mut url = request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let is_same_origin = url.origin() == request.url.origin();
            let (answer, location) = self.post_once(request, &url, is_same_origin)?;
            // After 303, the body would not be sent again.
            let (301 | 302 | 307 | 308, Some(location)) = (answer.status, location) else {
                return Ok(answer);
            };
            url = redirected(&url, &location).map_err(|reason| RequestError::Redirect(reason.to_owned()))?;
        }
        Err(RequestError::Redirect(format!("there are more than {MAX_REDIRECTS}")))
    }

    fn post_once(
        &self,
        request: &Request<'_>,
        url: &Url,
        is_same_origin: bool,
    ) -> Result<(Answer, Option<String>), RequestError> {
        let mut url = url.clone();
        let authorization = basic_authorization(&url);
        // Fails for URLs that have no user anyway.
        let _ = (url.set_username(""), url.set_password(None));
        url.set_fragment(None);
        let is_given = |name: &str| request.private.keys().any(|given| given.eq_ignore_ascii_case(name));
        let mut builder = self.agent.post(url.as_str());
        for &(name, value) in request.headers.iter().filter(|(name, _)| !is_given(name) || !is_same_origin) {
            builder = builder.header(name, value);
        }
        if let Some(value) = authorization.filter(|_| is_same_origin && !is_given("authorization")) {
            builder = builder.header("authorization", value);
        }
        for (name, value) in request.private.iter().filter(|_| is_same_origin) {
            builder = builder.header(name, value);
        }
        let mut response =
            builder.send(request.body).map_err(|error| RequestError::Failed(Box::new(error)))?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let retry_after = header("retry-after").and_then(|value| seconds(&value, SystemTime::now()));
        let location = header("location");
        let status = response.status().as_u16();
        let mut body = Vec::new();
        // The status says what matters. The rest of a long answer is left to the server.
        let _ = response.body_mut().as_reader().take(MAX_ANSWER_BYTES).read_to_end(&mut body);
        Ok((Answer { status, retry_after, body }, location))
    }
}

/// Where a redirect leads.
fn redirected(url: &Url, location: &str) -> Result<Url, &'static str> {
    let next = url.join(location).ok();
    let next = next.filter(|next| matches!(next.scheme(), "http" | "https") && next.has_host());
    let next = next.ok_or("it leads to no URL of HTTP")?;
    if url.scheme() == "https" && next.scheme() != "https" {
        return Err("it leads from https: to http:");
    }
    Ok(next)
}

/// The user and the password of a URL as a header.
fn basic_authorization(url: &Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decode = |text: &str| {
        let decoded = url::form_urlencoded::parse(text.replace('+', "%2B").as_bytes())
            .next()
            .map(|(key, _)| key.into_owned());
        decoded.unwrap_or_default()
    };
    let text = format!("{}:{}", decode(url.username()), decode(url.password().unwrap_or_default()));
    Some(format!("Basic {}", BASE64.encode(text.as_bytes())))
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

    #[test]
    fn redirects_never_leave_https() {
        #[track_caller]
        fn check(url: &str, location: &str, expected: Option<&str>) {
            let next = redirected(&Url::parse(url).unwrap(), location).ok();
            assert_eq!(next.as_ref().map(Url::as_str), expected);
        }
        check("http://a/b?c", "/d", Some("http://a/d"));
        check("http://a/b", "https://e/f?g", Some("https://e/f?g"));
        check("https://a/b", "//e/f", Some("https://e/f"));
        check("https://a/b", "http://a/b", None);
        check("http://a/b", "file:///etc/passwd", None);
        check("http://a/b", "http://", None);
    }

    #[test]
    fn passwords_of_urls_become_headers() {
        let of = |url: &str| basic_authorization(&Url::parse(url).unwrap());
        assert_eq!(of("https://a.example"), None);
        assert_eq!(
            of("https://user:pa%20+ss@a.example").unwrap(),
            format!("Basic {}", BASE64.encode(b"user:pa +ss"))
        );
    }
}
