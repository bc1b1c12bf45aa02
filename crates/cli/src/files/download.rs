//! Profiles from servers.

use std::time::Duration;

use selfprof_http::{Client, Request, RequestError, StatusCode, TimeLimits, Url};

use crate::failure::Failure;
use crate::urls;

/// How long a download may take.
const TIME: TimeLimits = TimeLimits {
    connect: Duration::from_secs(10),
    whole: Duration::from_secs(300),
    body: Duration::from_secs(300),
};

/// The largest download, in bytes.
const MAX_BYTES: u64 = 512 << 20;

/// Downloads a file.
pub fn download(url: &Url) -> Result<Vec<u8>, Failure> {
    let shown = urls::shown(url);
    let failed =
        |error: RequestError| Failure::job(format!("cannot read {shown}")).because_of_request(&error);
    let response = Client::new(TIME).get(&Request::new(url.clone())).map_err(failed)?;
    if !response.status.is_success() {
        let failure = Failure::job(format!("cannot read {shown}: the server answers {}", response.status));
        return Err(match response.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if url.username().is_empty() => {
                failure.hint("a user and a password may be in the URL: https://USER:PASSWORD@HOST/PATH")
            }
            _ => failure,
        });
    }
    let is_page = response.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    if is_page {
        return Err(Failure::job(format!("cannot read {shown}: it is a web page, not a profile")).hint(
            "give the URL of the file itself; that of a collector names an application, such as http://HOST/?app=shop",
        ));
    }
    response.read(MAX_BYTES).map_err(failed)
}
