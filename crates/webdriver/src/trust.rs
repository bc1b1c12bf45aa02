//! Rejecting requests from untrusted senders: a web page in a user's browser can send requests to this machine, but must not be able
//! to send commands.

use std::net::SocketAddr;

use hyper::{HeaderMap, Method, header};
use url::{Host, Url};

/// The trusted names and origins. A request without an `Origin` header does not come from a page.
#[derive(Clone, Debug)]
pub struct Trust {
    /// Names in the `Host` header that are accepted besides IP addresses. Others are rejected because of DNS rebinding.
    pub hosts: Vec<String>,
    /// Origins of pages that may send commands.
    pub origins: Vec<String>,
}

impl Default for Trust {
    /// Trusts the host name `localhost` and no origin.
    fn default() -> Self {
        Self { hosts: vec!["localhost".to_owned()], origins: Vec::new() }
    }
}

impl Trust {
    /// The reason to reject a request, if any.
    pub fn rejects(&self, address: SocketAddr, method: &Method, headers: &HeaderMap) -> Option<String> {
        let text =
            |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let Some(host) = text(header::HOST) else {
            return Some("the request has no Host header".to_owned());
        };
        if !self.knows_host(address, &host) {
            return Some(format!("the Host header is {host}, which is not a name of this server"));
        }
        if let Some(origin) = text(header::ORIGIN)
            && !self.origins.contains(&origin)
        {
            return Some(format!("the Origin header is {origin}, which is not a trusted origin"));
        }
        let kind = text(header::CONTENT_TYPE).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        // Pages of any origin can send these content types without a CORS preflight.
        let is_simple = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]
            .contains(&kind.as_str());
        (method == Method::POST && is_simple)
            .then(|| format!("the Content-Type is {kind}; commands must be application/json"))
    }

    fn knows_host(&self, address: SocketAddr, header: &str) -> bool {
        let Ok(url) = Url::parse(&format!("http://{header}")) else { return false };
        let is_known = match url.host() {
            Some(Host::Domain(name)) => self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name)),
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
            None => false,
        };
        is_known && url.port_or_known_default() == Some(address.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_from_pages_are_rejected() {
        #[track_caller]
        fn check(headers: &[(&str, &str)], is_trusted: bool) {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(header::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
            }
            let trust = Trust { origins: vec!["http://ide.test".to_owned()], ..Trust::default() };
            let rejected = trust.rejects("127.0.0.1:4444".parse().unwrap(), &Method::POST, &map);
            assert_eq!(rejected.is_none(), is_trusted, "{headers:?}: {rejected:?}");
        }
        let local = ("host", "localhost:4444");
        check(&[local], true);
        check(&[local, ("content-type", "application/json; charset=utf-8")], true);
        check(&[("host", "127.0.0.1:4444")], true);
        check(&[("host", "[::1]:4444")], true);
        check(&[local, ("origin", "http://ide.test")], true);
        check(&[], false);
        check(&[("host", "localhost")], false);
        check(&[("host", "localhost:4445")], false);
        check(&[("host", "rebound.test:4444")], false);
        check(&[("host", "@:4444")], false);
        check(&[local, ("origin", "http://localhost:4444")], false);
        check(&[local, ("origin", "null")], false);
        check(&[local, ("content-type", "text/plain")], false);
        check(&[local, ("content-type", "Multipart/Form-Data; boundary=x")], false);
    }
}
