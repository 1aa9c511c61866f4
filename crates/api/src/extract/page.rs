use super::Params;
use crate::problem::Problem;
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::str::FromStr;
use steward_core::ports;
use utoipa::{IntoParams, ToSchema};

const MAX_LIMIT: u32 = 100;
const DEFAULT_LIMIT: u32 = 30;

/// Which page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 30, nullable = false)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
}

impl Paging {
    /// 1 to 100.
    pub fn limit(&self) -> u32 {
        self.limit.unwrap_or(DEFAULT_LIMIT)
    }

    /// The id that the page before ended with; `None` on the first page.
    pub fn after<T: FromStr>(&self) -> Result<Option<T>, Problem> {
        let Some(cursor) = &self.cursor else {
            return Ok(None);
        };
        let id = URL_SAFE_NO_PAD
            .decode(cursor)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .and_then(|text| text.parse().ok());
        id.map(Some).ok_or_else(bad_cursor)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Params(paging) = Params::<Self>::from_request_parts(parts, state).await?;
        check_limit(paging.limit(), MAX_LIMIT)?;
        Ok(paging)
    }
}

/// Refuses a parameter `limit` that is not 1 to `most`.
pub(crate) fn check_limit(limit: u32, most: u32) -> Result<(), Problem> {
    if (1..=most).contains(&limit) {
        return Ok(());
    }
    Err(Problem::invalid("limit", format!("`limit` is {limit}"), format!("choose 1 to {most}")))
}

pub(crate) fn bad_cursor() -> Problem {
    Problem::invalid(
        "cursor",
        "the cursor is not one of this list",
        "take `next_cursor` of the page before, or leave it out to begin anew",
    )
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T: ToSchema> {
    /// The rows.
    pub items: Vec<T>,
    /// For `cursor`, if more follow.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

pub(crate) type Listed<T> = Result<Page<T>, Problem>;

impl<T: ToSchema> Page<T> {
    /// A page; `next` is the id that the next one begins after.
    pub fn new(items: Vec<T>, next: Option<impl Display>) -> Self {
        Self { items, next_cursor: next.map(|id| URL_SAFE_NO_PAD.encode(id.to_string())) }
    }

    /// A page of the store; `next` is where one ends after this row.
    pub fn after_last<N: Display>(page: ports::Page<T>, next: impl Fn(&T) -> N) -> Self {
        let next = page.items.last().filter(|_| page.more).map(next);
        Self::new(page.items, next)
    }

    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }

    pub fn cut(all: Vec<T>, paging: &Paging) -> Result<Self, Problem> {
        let begin = paging.after::<usize>()?.unwrap_or(0);
        let total = all.len();
        let limit = paging.limit() as usize;
        let items: Vec<T> = all.into_iter().skip(begin).take(limit).collect();
        let end = begin.saturating_add(limit);
        Ok(Self::new(items, (end < total).then_some(end)))
    }
}

impl<T: ToSchema + Serialize> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::{Page, Paging};
    use uuid::Uuid;

    #[test]
    fn a_cursor_comes_back_as_the_id_it_was_made_of() {
        let id = Uuid::from_u128(77);
        let page = Page::new(vec![1u32], Some(id));
        let paging = Paging { limit: Some(10), cursor: page.next_cursor };
        assert_eq!(paging.after::<Uuid>().unwrap(), Some(id));
        assert!(paging.after::<u64>().is_err());
        for bad in ["", "***", "AAAA", "bm90LWFuLWlk"] {
            let paging = Paging { limit: Some(10), cursor: Some(bad.to_owned()) };
            assert!(paging.after::<Uuid>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_list_in_memory_is_cut_without_gap_or_repeat() {
        let all: Vec<u32> = (0..25).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        for _ in 0..10 {
            let paging = Paging { limit: Some(10), cursor };
            let page = Page::cut(all.clone(), &paging).unwrap();
            seen.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }
}
