mod body;
mod form;
mod limits;
mod page;

use crate::problem::Problem;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use body::storable;
use serde::de::DeserializeOwned;
use std::str::FromStr;
use utoipa::IntoParams;

pub(crate) use body::{Body, PublishedBody, broken_off, file_of, length_of, limited, too_long, whole};
pub(crate) use form::{
    broken, form_of, holds_file, is_form, next_field, no_file, second_file, sent_file, text_field, unknown_field,
};
pub(crate) use page::{Listed, Page, Paging, bad_cursor, check_limit};

/// The only parameter of the path as an id. What is no id isn't there: 404.
pub(crate) struct PathId<T>(pub T);

pub(crate) struct PathName(pub String);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        id(&only(parts, state).await?).map(Self)
    }
}

fn id<T: FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(60).collect();
        Problem::new(
            axum::http::StatusCode::NOT_FOUND,
            format!("there is nothing with the id `{shown}`"),
            "ids are UUIDs such as 019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11; take one from the list",
        )
    })
}

fn unreadable(why: &str) -> Problem {
    Problem::new(
        axum::http::StatusCode::NOT_FOUND,
        format!("the address can't be read: {why}"),
        "write the path in UTF-8, percent-encoded",
    )
}

pub(crate) struct PathIds<A, B>(pub A, pub B);

impl<A: FromStr, B: FromStr, S: Send + Sync> FromRequestParts<S> for PathIds<A, B> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path((first, second)) = Path::<(String, String)>::from_request_parts(parts, state)
            .await
            .map_err(|error| unreadable(&error.body_text()))?;
        Ok(Self(id(&first)?, id(&second)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let text = only(parts, state).await?;
        storable("name", &text)?;
        Ok(Self(text))
    }
}

async fn only<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<String, Problem> {
    Path::<String>::from_request_parts(parts, state)
        .await
        .map(|Path(text)| text)
        .map_err(|error| unreadable(&error.body_text()))
}

/// The query as `T`. Unknown parameters are ignored.
pub(crate) struct Params<T>(pub T);

impl<T: DeserializeOwned + IntoParams, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let refused =
            |text: String| Problem::invalid("query", text, "correct the parameter; /docs lists what it may be");
        let pairs =
            Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(|error| refused(error.body_text()))?;
        for (name, value) in &pairs.0 {
            storable(name, value)?;
        }
        limits::check_parameters(&T::into_params(|| None), &pairs.0)?;
        Query::<T>::try_from_uri(&parts.uri).map(|Query(query)| Self(query)).map_err(|error| refused(error.body_text()))
    }
}
