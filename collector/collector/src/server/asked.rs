//! What the URL of a request says, with problems that are answered as all others are.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// The members of the query.
pub struct Asked<T>(pub T);

/// A part of the path.
pub struct PathPart(pub String);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(asked)| Self(asked)).map_err(|error| Problem::bad(error.body_text()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathPart {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(part)| Self(part)).map_err(|error| Problem::bad(error.body_text()))
    }
}
