//! The pages at `/` and at `/profiles/ID`: `collector/page`, each in one file.

use axum::http::HeaderName;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};

/// The page, or, if it was not built before the collector, a page that says how it is built.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// The page of a single profile.
const PROFILE_PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/profile.html"));

/// Text from profiles must neither run nor fetch anything. The page itself allows only the script that it was built
/// with, by its hash.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // A newer collector has a newer page.
    (header::CACHE_CONTROL, "no-cache"),
];

/// `GET /profiles/ID`. It asks for the profile itself.
pub async fn profile() -> Response {
    (HEADERS, Html(PROFILE_PAGE)).into_response()
}

/// `GET /`. Anybody may read it: it has no data.
pub async fn page() -> Response {
    (HEADERS, Html(PAGE)).into_response()
}
