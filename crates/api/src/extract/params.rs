//! Query parameters. Unknown ones are ignored.

use super::text::storable;
use crate::problem::Problem;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// The query as `T`.
pub(crate) struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let refused =
            |text: String| Problem::invalid("query", text, "correct the parameter; /docs lists what it may be");
        let pairs =
            Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(|error| refused(error.body_text()))?;
        for (name, value) in &pairs.0 {
            storable(name, value)?;
        }
        Query::<T>::try_from_uri(&parts.uri).map(|Query(query)| Self(query)).map_err(|error| refused(error.body_text()))
    }
}
