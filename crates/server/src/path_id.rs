//! The id in the path of a request, as an extractor.

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::problem::Problem;

/// The `{id}` of a route. One that is not UTF-8 is refused as everything else is, with a code.
#[derive(Debug, Clone)]
pub(crate) struct PathId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let found: Result<Path<String>, PathRejection> =
            Path::from_request_parts(parts, state).await;
        match found {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(Problem::bad_request(
                "the path holds an id that is not UTF-8",
            )),
        }
    }
}
