//! <https://www.w3.org/TR/webdriver2/#cookies>

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use url::Url;
use webdriver::command::AddCookieParameters;
use webdriver::common::Cookie;
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{CookieResponse, CookiesResponse, WebDriverResponse};

use super::state::{CommandResult, Session};

impl Session {
    /// The URL of the current document, if it can have cookies.
    fn cookie_url(&self) -> WebDriverResult<Option<Url>> {
        let url = self.document(self.context, "url", json!({}))?;
        let url = url.as_str().and_then(|url| Url::parse(url).ok());
        Ok(url.filter(|url| matches!(url.scheme(), "http" | "https")))
    }

    fn list_cookies(&self, url: Option<&Url>) -> WebDriverResult<Vec<Cookie>> {
        let Some(url) = url else { return Ok(Vec::new()) };
        Ok(serde_json::from_value(self.pages.call("cookies", json!({ "url": url.as_str() }))?)?)
    }

    pub(super) fn cookies(&self) -> CommandResult {
        let url = self.cookie_url()?;
        Ok(WebDriverResponse::Cookies(CookiesResponse(self.list_cookies(url.as_ref())?)))
    }

    pub(super) fn cookie(&self, name: &str) -> CommandResult {
        let url = self.cookie_url()?;
        let found = self.list_cookies(url.as_ref())?.into_iter().find(|cookie| cookie.name == name);
        found.map(|cookie| WebDriverResponse::Cookie(CookieResponse(cookie))).ok_or_else(|| {
            WebDriverError::new(ErrorStatus::NoSuchCookie, format!("no cookie is named {name}"))
        })
    }

    pub(super) fn add_cookie(&self, cookie: &AddCookieParameters) -> CommandResult {
        let invalid_domain = |message: String| WebDriverError::new(ErrorStatus::InvalidCookieDomain, message);
        let Some(url) = self.cookie_url()? else {
            return Err(invalid_domain("the current document cannot have cookies".to_owned()));
        };
        let host = url.host_str().unwrap_or_default();
        if let Some(domain) = &cookie.domain {
            let domain = domain.trim_start_matches('.').to_ascii_lowercase();
            if host != domain && !host.ends_with(&format!(".{domain}")) {
                return Err(invalid_domain(format!("the domain {domain} does not match the host {host}")));
            }
        }
        let text = set_cookie(cookie, host)?;
        self.pages.call("store cookie", json!({ "url": url.as_str(), "text": text }))?;
        let is_expired = cookie.expiry.as_ref().is_some_and(|expiry| expiry.0 <= now());
        // A cookie with another path may not be visible here.
        if cookie.path.is_none()
            && !is_expired
            && !self.list_cookies(Some(&url))?.iter().any(|known| known.name == cookie.name)
        {
            return Err(WebDriverError::new(ErrorStatus::UnableToSetCookie, "the cookie was rejected"));
        }
        Ok(WebDriverResponse::Void)
    }

    pub(super) fn delete_cookies(&self, name: Option<&str>) -> CommandResult {
        let Some(url) = self.cookie_url()? else { return Ok(WebDriverResponse::Void) };
        for cookie in self.list_cookies(Some(&url))? {
            if name.is_none_or(|name| name == cookie.name) {
                let (url, text) = expired(&cookie, &url);
                self.pages.call("store cookie", json!({ "url": url.as_str(), "text": text }))?;
            }
        }
        Ok(WebDriverResponse::Void)
    }
}

/// The text of an expired cookie that replaces the existing one, and the URL that sets it.
fn expired(cookie: &Cookie, url: &Url) -> (Url, String) {
    let mut url = url.clone();
    let mut text = format!("{}=; Max-Age=0", cookie.name);
    match cookie.path.as_deref().unwrap_or("/") {
        // It is the path of the URL that set it: no attribute can hold it.
        path if path.contains(|c: char| c == ';' || c.is_control()) || path.trim() != path => {
            url.set_path(&format!("{}/", encoded(path)));
        }
        path => text += &format!("; Path={path}"),
    }
    if let Some(domain) = cookie.domain.as_deref().filter(|domain| domain.starts_with('.')) {
        text += &format!("; Domain={domain}");
    }
    // The names of some begin as only a secure one may be called.
    if cookie.secure {
        text += "; Secure";
    }
    (url, text)
}

/// The path of a URL that has this path when it is decoded as `decodeURI()` does, which leaves `;` and the like
/// encoded.
fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'%' | b' ' | b'"' | b'<' | b'>' | b'`' | b'\\' | ..=0x1f | 0x7f.. => {
                text += &format!("%{byte:02X}")
            }
            _ => text.push(char::from(byte)),
        }
    }
    text
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The cookie as in a `Set-Cookie` header.
fn set_cookie(cookie: &AddCookieParameters, host: &str) -> WebDriverResult<String> {
    let invalid = |what: &str| {
        WebDriverError::new(ErrorStatus::InvalidArgument, format!("the cookie's {what} is not valid"))
    };
    let is_text = |text: &str| !text.contains(|c: char| c == ';' || c.is_control());
    let parts = [
        ("name", Some(&cookie.name)),
        ("value", Some(&cookie.value)),
        ("path", cookie.path.as_ref()),
        ("domain", cookie.domain.as_ref()),
    ];
    if let Some((what, _)) = parts.iter().find(|(_, text)| text.is_some_and(|text| !is_text(text))) {
        return Err(invalid(what));
    }
    if cookie.name.is_empty() && cookie.value.is_empty() {
        return Err(invalid("name"));
    }
    let mut text =
        format!("{}={}; Path={}", cookie.name, cookie.value, cookie.path.as_deref().unwrap_or("/"));
    // An IP address has no subdomains.
    let is_address = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    if let Some(domain) = cookie.domain.as_deref().filter(|_| !is_address) {
        text += &format!("; Domain={domain}");
    }
    if cookie.secure {
        text += "; Secure";
    }
    if cookie.httpOnly {
        text += "; HttpOnly";
    }
    if let Some(expiry) = &cookie.expiry {
        text += &format!("; Max-Age={}", expiry.0.saturating_sub(now()));
    }
    if let Some(same_site) = &cookie.sameSite {
        if !["Strict", "Lax", "None"].contains(&same_site.as_str()) {
            return Err(invalid("sameSite"));
        }
        text += &format!("; SameSite={same_site}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cookie: serde_json::Value, url: &str, text: &str) {
        let cookie = serde_json::from_value(cookie).unwrap();
        let (at, expired) = expired(&cookie, &Url::parse("http://a.test/x?y").unwrap());
        assert_eq!((at.as_str(), &*expired), (url, text));
    }

    #[test]
    fn an_expired_cookie_is_at_the_place_of_the_one_that_it_replaces() {
        let cookie = |name: &str, path: &str, domain: &str, secure: bool| json!({ "name": name, "value": "1", "path": path, "domain": domain, "secure": secure, "httpOnly": false });
        check(cookie("a", "/", "a.test", false), "http://a.test/x?y", "a=; Max-Age=0; Path=/");
        check(
            cookie("a", "/b c", ".a.test", false),
            "http://a.test/x?y",
            "a=; Max-Age=0; Path=/b c; Domain=.a.test",
        );
        check(
            cookie("__Host-a", "/", "a.test", true),
            "http://a.test/x?y",
            "__Host-a=; Max-Age=0; Path=/; Secure",
        );
        check(cookie("a", "/b;c", "a.test", false), "http://a.test/b;c/?y", "a=; Max-Age=0");
        // What `decodeURI()` makes of the paths of URLs.
        check(cookie("a", "/b ", "a.test", false), "http://a.test/b%20/?y", "a=; Max-Age=0");
        check(cookie("a", "/b\n%3B", "a.test", false), "http://a.test/b%0A%253B/?y", "a=; Max-Age=0");
    }
}
