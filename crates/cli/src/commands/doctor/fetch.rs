//! Fetching the page and its scripts.

use std::collections::HashMap;
use std::time::Duration;

use selfprof_http::{Client, Request, RequestError, TimeLimits, Url};

/// For each resource.
const TIME: Duration = Duration::from_secs(10);

/// The longest resource, in bytes, after decompression.
const MAX_BYTES: u64 = 8 << 20;

/// The headers that are looked at.
const HEADERS: [&str; 8] = [
    "access-control-allow-origin",
    "content-security-policy",
    "content-type",
    "document-policy",
    "document-policy-report-only",
    "feature-policy",
    "permissions-policy",
    "sourcemap",
];

/// What was found at a URL.
#[derive(Clone, Debug, Default)]
pub struct Resource {
    /// After redirects.
    pub url: String,
    /// Why there is nothing.
    pub error: Option<String>,
    /// What can be done about it.
    pub hint: Option<&'static str>,
    pub status: u16,
    /// Names are in lower case.
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Resource {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Why it is not there.
    pub fn problem(&self) -> Option<String> {
        match &self.error {
            Some(error) => Some(error.clone()),
            None if !(200..300).contains(&self.status) => {
                Some(format!("the server answers with status {}", self.status))
            }
            None => None,
        }
    }
}

/// Fetches resources.
pub struct Fetcher {
    client: Client,
}

impl Fetcher {
    pub fn new() -> Self {
        Self { client: Client::new(TimeLimits::within(TIME)) }
    }

    /// Fetches a resource. With an origin, its server is asked whether pages of that origin may read it.
    pub fn fetch(&self, url: &Url, origin: Option<&str>) -> Resource {
        self.get(url, origin).unwrap_or_else(|error| Resource {
            url: url.to_string(),
            hint: error.hint(),
            error: Some(error.to_string()),
            ..Resource::default()
        })
    }

    /// Fetches what a page names, if its URL can be fetched.
    pub fn fetch_relative(&self, base: &Url, address: &str, origin: &str) -> Resource {
        let not_fetched =
            |url: String, error: String| Resource { url, error: Some(error), ..Resource::default() };
        match base.join(address) {
            Ok(url) if ["http", "https"].contains(&url.scheme()) => self.fetch(&url, Some(origin)),
            Ok(url) => not_fetched(url.to_string(), format!("{}: URLs are not looked at", url.scheme())),
            Err(error) => not_fetched(address.to_owned(), error.to_string()),
        }
    }

    fn get(&self, url: &Url, origin: Option<&str>) -> Result<Resource, RequestError> {
        let headers: Vec<_> = origin.map(|origin| ("origin", origin)).into_iter().collect();
        let response = self.client.get(&Request { headers: &headers, ..Request::new(url.clone()) })?;
        let headers = HEADERS.iter().filter_map(|&name| Some((name.to_owned(), response.header(name)?)));
        Ok(Resource {
            url: response.url.to_string(),
            status: response.status.as_u16(),
            headers: headers.collect(),
            body: String::from_utf8_lossy(&response.read(MAX_BYTES)?).into_owned(),
            ..Resource::default()
        })
    }
}
