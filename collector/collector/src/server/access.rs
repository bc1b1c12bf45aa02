//! Who may send, and who may ask.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

use super::Shared;
use super::problem::Problem;
use crate::config::Config;

/// What the settings allow.
pub struct Access {
    /// Without settings, everybody on this machine may do everything.
    is_open: bool,
    app_of_key: HashMap<String, Arc<Sending>>,
    tokens: Vec<String>,
}

/// What an application's pages may send.
pub struct Sending {
    /// Its name.
    pub app: String,
    origins: Vec<String>,
    rate: DefaultDirectRateLimiter,
}

impl Access {
    /// What these settings allow; without any, everything from this machine.
    pub fn new(config: Option<&Config>) -> Self {
        let mut app_of_key = HashMap::new();
        for (name, app) in config.iter().flat_map(|config| &config.apps) {
            let rate = NonZeroU32::new(app.rate).unwrap_or(NonZeroU32::MIN);
            let sending = Arc::new(Sending {
                app: name.clone(),
                origins: app.origins.iter().map(|origin| origin.trim_end_matches('/').to_owned()).collect(),
                rate: RateLimiter::direct(Quota::per_second(rate)),
            });
            app_of_key.extend(app.keys.iter().map(|key| (key.clone(), Arc::clone(&sending))));
        }
        Self {
            is_open: config.is_none(),
            app_of_key,
            tokens: config.map(|config| config.tokens.clone()).unwrap_or_default(),
        }
    }

    /// Whether this request may send profiles, and of which application; `None` of any.
    pub fn of_sender(&self, key: Option<&str>, headers: &HeaderMap) -> Result<Option<Arc<Sending>>, Problem> {
        if self.is_open {
            return Ok(None);
        }
        let sending = key.and_then(|key| self.app_of_key.get(key)).ok_or_else(|| {
            Problem::new(StatusCode::UNAUTHORIZED, "the key is missing or not known: add ?key=... to the URL")
        })?;
        let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        if !sending.origins.is_empty()
            && let Some(origin) = origin
            && !sending.origins.iter().any(|allowed| allowed == origin)
        {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "pages of this origin may not send profiles with this key",
            ));
        }
        Ok(Some(Arc::clone(sending)))
    }

    /// Whether a request may ask.
    fn may_ask(&self, headers: &HeaderMap) -> bool {
        if self.is_open {
            return is_for_this_machine(headers);
        }
        let sent =
            headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        sent.is_some_and(|sent| self.tokens.iter().any(|token| is_equal(token.as_bytes(), sent.as_bytes())))
    }
}

impl Sending {
    /// Takes as many profiles of the rate, if there are that many.
    pub fn take(&self, profiles: usize) -> Result<(), Problem> {
        let Some(profiles) = u32::try_from(profiles).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        match self.rate.check_n(profiles) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "this application sends more profiles per second than its rate",
            )
            .retry_after(1)),
            // It would never be let through.
            Err(_) => Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "one request has more profiles than this application may send in a second",
            )),
        }
    }
}

/// Compares in a time that does not depend on where the first difference is.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Whether the name in the request is one of this machine. A page whose own name was made to point here has another
/// one.
fn is_for_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
    let host = host
        .rsplit_once(':')
        .map_or(host, |(name, port)| if port.chars().all(|c| c.is_ascii_digit()) { name } else { host });
    host == "localhost"
        || host == "[::1]"
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

/// Lets those ask who may.
pub async fn of_readers(State(state): State<Shared>, request: Request, next: Next) -> Response {
    if state.access.may_ask(request.headers()) {
        return next.run(request).await;
    }
    let problem = if state.access.is_open {
        Problem::new(
            StatusCode::FORBIDDEN,
            "without a file of settings, only requests for this machine by its own name are answered",
        )
    } else {
        Problem::new(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer ...")
    };
    problem.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_settings_only_this_machine_is_answered() {
        #[track_caller]
        fn check(host: &str, expected: bool) {
            let headers = HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
            assert_eq!(Access::new(None).may_ask(&headers), expected, "{host}");
        }
        check("127.0.0.1:4319", true);
        check("localhost:4319", true);
        check("localhost", true);
        check("[::1]:4319", true);
        check("attacker.example:4319", false);
        check("127.0.0.1.attacker.example", false);
        check("", false);
        assert!(!Access::new(None).may_ask(&HeaderMap::new()));
    }
}
