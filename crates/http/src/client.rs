//! Requests: with time limits, few redirects, and passwords for one origin only.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use percent_encoding::percent_decode_str;
use ureq::http::{self, Method};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, AsSendBody, Body};
use url::{Host, Url};

use crate::error::RequestError;
use crate::response::Response;

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 3;

/// How long requests may take.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// To connect.
    pub connect: Duration,
    /// A whole request, with its redirects and the body of the response.
    pub whole: Duration,
    /// The body of the response.
    pub body: Duration,
}

impl TimeLimits {
    /// Limits the whole request only.
    pub fn within(whole: Duration) -> Self {
        Self { connect: whole, whole, body: whole }
    }
}

/// Connections are kept for requests that follow at once; servers close them before a request that comes later.
const IDLE: Duration = Duration::from_secs(1);

/// Sends requests.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    time: TimeLimits,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The URL. Its user and password become a header.
    pub url: Url,
    /// The headers for the origin of this URL and no other one, such as keys.
    pub private: BTreeMap<String, String>,
    /// The other headers.
    pub headers: &'a [(&'a str, &'a str)],
}

impl Request<'_> {
    /// Without headers.
    pub fn new(url: Url) -> Self {
        Self { url, private: BTreeMap::new(), headers: &[] }
    }
}

impl Client {
    /// A client that trusts what the system trusts, and whose proxies come from the environment.
    pub fn new(time: TimeLimits) -> Self {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            // ureq chooses none.
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // They are followed here.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(time.connect))
            .timeout_recv_body(Some(time.body))
            .max_idle_age(IDLE)
            .user_agent(concat!("selfprof/", env!("CARGO_PKG_VERSION")))
            .accept("*/*")
            .tls_config(tls);
        Self { agent: config.build().new_agent(), time }
    }

    /// Asks for the URL, and follows redirects.
    pub fn get(&self, request: &Request<'_>) -> Result<Response, RequestError> {
        self.follow(request, Method::GET, None)
    }

    /// Posts the body, and follows redirects.
    pub fn post(&self, request: &Request<'_>, body: &[u8]) -> Result<Response, RequestError> {
        self.follow(request, Method::POST, Some(body))
    }

    fn follow(
        &self,
        request: &Request<'_>,
        method: Method,
        body: Option<&[u8]>,
    ) -> Result<Response, RequestError> {
        let deadline = Instant::now() + self.time.whole;
        let mut url = request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send(request, &url, (&method, body), deadline)?;
            let is_redirect = match response.status.as_u16() {
                301 | 302 | 307 | 308 => true,
                // The body would not be sent again.
                303 => body.is_none(),
                _ => false,
            };
            let Some(location) = response.header("location").filter(|_| is_redirect) else {
                return Ok(response);
            };
            url = redirected(&url, &location).map_err(|reason| RequestError::Redirect(reason.to_owned()))?;
        }
        Err(RequestError::Redirect(format!("there are more than {MAX_REDIRECTS}")))
    }

    /// Sends the request to this URL, once.
    fn send(
        &self,
        request: &Request<'_>,
        url: &Url,
        (method, body): (&Method, Option<&[u8]>),
        deadline: Instant,
    ) -> Result<Response, RequestError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(RequestError::TimedOut);
        }
        let is_same_origin = url.origin() == request.url.origin();
        let authorization = basic_authorization(url);
        let mut plain = url.clone();
        // Fails for URLs that have no user anyway.
        let _ = (plain.set_username(""), plain.set_password(None));
        plain.set_fragment(None);
        let is_given = |name: &str| request.private.keys().any(|given| given.eq_ignore_ascii_case(name));
        let mut builder = http::Request::builder().method(method).uri(plain.as_str());
        for &(name, value) in request.headers.iter().filter(|(name, _)| !is_given(name) || !is_same_origin) {
            builder = builder.header(name, value);
        }
        if let Some(value) = authorization.filter(|_| is_same_origin && !is_given("authorization")) {
            builder = builder.header("authorization", value);
        }
        for (name, value) in request.private.iter().filter(|_| is_same_origin) {
            builder = builder.header(name, value);
        }
        let is_direct = is_this_machine(&plain);
        let response = match body {
            Some(body) => self.run(builder, body, (is_direct, left))?,
            None => self.run(builder, (), (is_direct, left))?,
        };
        let (head, body) = response.into_parts();
        Ok(Response { url: plain, status: head.status, headers: head.headers, body })
    }

    fn run(
        &self,
        builder: http::request::Builder,
        body: impl AsSendBody,
        (is_direct, time): (bool, Duration),
    ) -> Result<http::Response<Body>, ureq::Error> {
        let config = self.agent.configure_request(builder.body(body)?).timeout_global(Some(time));
        let config = if is_direct { config.proxy(None) } else { config };
        self.agent.run(config.build())
    }
}

/// Whether a URL leads to this machine, which no proxy can reach.
fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
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
    let decode = |text| percent_decode_str(text).decode_utf8_lossy();
    let text = format!("{}:{}", decode(url.username()), decode(url.password().unwrap_or_default()));
    Some(format!("Basic {}", BASE64.encode(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use super::*;

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
    fn this_machine_is_recognized() {
        #[track_caller]
        fn check(url: &str, expected: bool) {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), expected, "{url}");
        }
        for url in [
            "http://localhost/",
            "http://a.localhost:1/",
            "https://127.0.0.1:2/",
            "http://127.1/",
            "http://[::1]/",
        ] {
            check(url, true);
        }
        for url in ["http://localhost.example/", "http://128.0.0.1/", "http://[2001:db8::1]/"] {
            check(url, false);
        }
    }

    /// A server that does this with its first connection.
    fn serve(work: impl FnOnce(TcpStream) + Send + 'static) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        thread::spawn(move || work(listener.accept().unwrap().0));
        Url::parse(&url).unwrap()
    }

    #[test]
    fn slow_servers_are_not_waited_for() {
        let silent_after = |head: &'static [u8]| {
            serve(move |mut stream| {
                let _ = stream.write_all(head).and_then(|()| stream.read_to_end(&mut Vec::new()));
            })
        };
        let client = Client::new(TimeLimits::within(Duration::from_millis(200)));
        for head in [
            "",
            "HTTP/1.1 200 OK\r\na: ",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx",
        ] {
            let url = silent_after(head.as_bytes());
            let read = client.get(&Request::new(url)).and_then(|response| response.read(1 << 30));
            assert!(matches!(read, Err(RequestError::TimedOut)), "{read:?}");
        }
    }

    #[test]
    fn long_bodies_are_errors_or_cut() {
        let endless = || {
            serve(|mut stream| {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
                while stream.write_all(&[b'x'; 4096]).is_ok() {}
            })
        };
        let client = Client::new(TimeLimits::within(Duration::from_secs(60)));
        let read = client.get(&Request::new(endless())).unwrap().read(100_000);
        assert!(matches!(read, Err(RequestError::TooLong { max_bytes: 100_000 })), "{read:?}");
        let cut = client.get(&Request::new(endless())).unwrap().read_beginning(100_000);
        assert_eq!(cut, vec![b'x'; 100_000]);
    }

    #[test]
    fn passwords_of_urls_become_headers() {
        let of = |url: &str| basic_authorization(&Url::parse(url).unwrap());
        assert_eq!(of("https://a.example"), None);
        assert_eq!(
            of("https://user:pa%20+s&s@a.example").unwrap(),
            format!("Basic {}", BASE64.encode(b"user:pa +s&s"))
        );
    }
}
