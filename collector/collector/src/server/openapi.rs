//! The description of the API: <https://spec.openapis.org/oas/v3.1.1>. It is kept by hand; a test compares it with the
//! routes, and the step `collector-api` of `cargo xtask test` with the answers.

use axum::http::header;
use axum::response::IntoResponse;

/// The description.
pub const DESCRIPTION: &str = include_str!("openapi.json");

/// `GET /api/v1/openapi.json`. Anybody may read it: it has no data.
pub async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn all_routes_are_described() {
        let description: Value = serde_json::from_str(DESCRIPTION).unwrap();
        let paths = description["paths"].as_object().unwrap();
        let described: BTreeSet<(String, String)> = paths
            .iter()
            .flat_map(|(path, methods)| {
                methods.as_object().unwrap().keys().map(|method| (path.clone(), method.clone()))
            })
            .collect();
        // `.route("/metrics", get(...))`
        let routes = include_str!("../server.rs").split(".route(\"").skip(1);
        let routes: BTreeSet<(String, String)> = routes
            .map(|route| {
                let (path, rest) = route.split_once("\", ").unwrap();
                let (method, _) = rest.split_once('(').unwrap();
                // The same without its last slash.
                let path = if path.ends_with("/envelope") { format!("{path}/") } else { path.to_owned() };
                (path, method.to_owned())
            })
            .collect();
        assert_eq!(described, routes);
        assert!(routes.len() > 10);
    }
}
