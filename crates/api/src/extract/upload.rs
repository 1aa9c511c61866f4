//! Files that are sent: they come piece by piece, and not as JSON.

use super::body::too_long;
use crate::problem::Problem;
use axum::extract::Request;
use axum::http::StatusCode;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use std::fmt::Display;

/// The body of a request, which is a file, up to `most` bytes.
pub(crate) fn file_of(request: Request, most: usize) -> impl Stream<Item = Result<Bytes, Problem>> + Unpin {
    limited(request.into_body().into_data_stream().map_err(|error| broken_off("file", error)), most)
}

/// Up to `most` bytes of them.
pub(crate) fn limited(
    pieces: impl Stream<Item = Result<Bytes, Problem>> + Unpin,
    most: usize,
) -> impl Stream<Item = Result<Bytes, Problem>> + Unpin {
    let mut sent = 0;
    pieces.map(move |piece| {
        let piece = piece?;
        sent += piece.len();
        if sent > most { Err(too_long()) } else { Ok(piece) }
    })
}

pub(crate) async fn whole(pieces: impl Stream<Item = Result<Bytes, Problem>>) -> Result<Vec<u8>, Problem> {
    let join = |mut all: Vec<u8>, piece: Bytes| async move {
        all.extend_from_slice(&piece);
        Ok(all)
    };
    pieces.try_fold(Vec::new(), join).await
}

pub(crate) fn broken_off(what: &str, error: impl Display) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, format!("the {what} did not arrive whole: {error}"), "send it again")
}
