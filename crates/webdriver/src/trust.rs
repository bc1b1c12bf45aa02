//! Rejecting requests from untrusted senders: a web page in a user's browser can send requests to this machine, but
//! must not be able to send commands.

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
        let all = |name| -> Vec<String> {
            let values = headers.get_all(name).iter();
            values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
        };
        let hosts = all(header::HOST);
        let [host] = &hosts[..] else {
            return Some(format!("the request has {} Host headers instead of one", hosts.len()));
        };
        if !self.knows_host(address, host) {
            return Some(format!("the Host header is {host}, which is not a name of this server"));
        }
        if let Some(origin) = all(header::ORIGIN).iter().find(|origin| !self.origins.contains(origin)) {
            return Some(format!("the Origin header is {origin}, which is not a trusted origin"));
        }
        // A page needs a CORS preflight for JSON. Without a Content-Type, its request has an Origin at least.
        let kinds = all(header::CONTENT_TYPE);
        if method != Method::POST || kinds.is_empty() || matches!(&kinds[..], [kind] if is_json(kind)) {
            return None;
        }
        Some(format!("the Content-Type is {}; commands must be application/json", kinds.join(", ")))
    }

    fn knows_host(&self, address: SocketAddr, header: &str) -> bool {
        // A name and a port, and nothing else that a URL may have.
        if !header.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c)) {
            return false;
        }
        let Ok(url) = Url::parse(&format!("http://{header}")) else { return false };
        let is_known = match url.host() {
            Some(Host::Domain(name)) => self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name)),
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
            None => false,
        };
        is_known && url.port_or_known_default() == Some(address.port())
    }
}

/// Whether a page has sent the request. Browsers say so with each request to this machine.
pub fn is_of_page(headers: &HeaderMap) -> bool {
    headers.contains_key("sec-fetch-site") || headers.contains_key(header::ORIGIN)
}

fn is_json(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
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
                map.append(header::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
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
        for host in [
            "evil@localhost:4444",
            "evil:x@localhost:4444",
            "localhost:4444/.evil",
            "localhost:4444/",
            "localhost:4444?.evil",
            "localhost:4444#.evil",
            "localhost:4444\\.evil",
            "localhost :4444",
            "%6cocalhost:4444",
            "localhost:4444,localhost:4444",
            "",
            ":4444",
        ] {
            check(&[("host", host)], false);
        }
        check(&[local, local], false);
        check(&[("host", "rebound.test:4444"), local], false);
        check(&[local, ("origin", "http://ide.test"), ("origin", "http://evil.test")], false);
        check(&[local, ("content-type", "application/json"), ("content-type", "text/plain")], false);
        check(&[local, ("origin", "http://localhost:4444")], false);
        check(&[local, ("origin", "null")], false);
        check(&[local, ("content-type", "text/plain")], false);
        check(&[local, ("content-type", "Multipart/Form-Data; boundary=x")], false);
        for kind in ["", "text/ping", "application/csp-report", "application/json, text/plain"] {
            check(&[local, ("content-type", kind)], false);
        }
        check(&[local, ("content-type", "application/json"), ("content-type", "application/json")], false);
    }
}
