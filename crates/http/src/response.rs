//! What a server answers.

use std::io::Read;

use ureq::Body;
use ureq::http::{HeaderMap, StatusCode};
use url::Url;

use crate::error::RequestError;

/// What a server answers: its body is still to be read.
#[derive(Debug)]
pub struct Response {
    /// The URL that was answered, after redirects.
    pub url: Url,
    /// The status code.
    pub status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

impl Response {
    /// A header, if it is text. Of several with one name, they are joined, as a list is.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> =
            self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// The whole body, decompressed. Fails if it is longer than this.
    pub fn read(mut self, max_bytes: u64) -> Result<Vec<u8>, RequestError> {
        let mut bytes = Vec::new();
        self.body.as_reader().take(max_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            return Err(RequestError::TooLong { max_bytes });
        }
        Ok(bytes)
    }

    /// The beginning of the body, as far as it comes. The rest is left to the server.
    pub fn read_beginning(mut self, max_bytes: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.body.as_reader().take(max_bytes).read_to_end(&mut bytes);
        bytes
    }
}
