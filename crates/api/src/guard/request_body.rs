//! The body of one request: read only once there is room for it, hashed on the way where that is wanted, and its rest dealt
//! with once the request is answered.

use super::body_budget::{BodyBudget, BodyOwner, BodyRefusal, BodyTicket};
use super::{DOCUMENT_UPLOAD, FILE_UPLOAD, MAX_UPLOAD, is_form_upload};
use crate::auth::Client;
use crate::connection_places::network;
use crate::lingering::Unread;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Version, header};
use axum::response::Response;
use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use hyper::body::{Body as _, Frame, SizeHint};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use steward_core::hash::Hasher;
use steward_core::locks::lock;

/// What is in memory of a body that is written to a file as it comes, bytes.
const PIECES: usize = 512 << 10;
/// What there is to be room for at first, and each time more comes, of a body that doesn't say how long it is; bytes.
const STEP: usize = 256 << 10;
/// Longest rest of a body that is read after its answer, so that the connection can be used again; bytes.
const MAX_REST: usize = 256 << 10;
/// Longest time for that.
const REST_WITHIN: Duration = Duration::from_secs(1);
/// Longest time for the rest of a body whose hash is wanted.
const HASH_WITHIN: Duration = Duration::from_secs(30);

/// Stands beside a request until it is answered, and holds the room for its body. An extension of the request.
#[derive(Debug)]
pub(crate) struct RequestBody {
    budget: Arc<BodyBudget>,
    /// What its head says, bytes.
    pub(super) length: Option<usize>,
    /// What of it is in memory at most, where it isn't all of it; bytes.
    in_pieces: Option<usize>,
    /// Unset: nobody knows who sends it.
    owner: OnceLock<BodyOwner>,
    address: IpAddr,
    /// Whether its sender waits for a word before the body.
    expects: bool,
    /// Of its connection, if there is one.
    unread: Option<Unread>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    ticket: Option<BodyTicket>,
    /// Bytes that there is room for.
    room: usize,
    received: usize,
    whole: bool,
    refusal: Option<BodyRefusal>,
    hash: Option<Hasher>,
    /// What the handler left unread.
    rest: Option<Body>,
}

impl RequestBody {
    /// The request with its body metered; `None`: it has no body.
    pub fn meter(request: Request, budget: &Arc<BodyBudget>) -> (Request, Option<Arc<Self>>) {
        let (mut parts, body) = request.into_parts();
        if body.is_end_stream() {
            return (Request::from_parts(parts, body), None);
        }
        let path = parts.uri.path();
        let in_pieces = match path {
            FILE_UPLOAD | DOCUMENT_UPLOAD if parts.method == Method::POST => Some(PIECES),
            // One file of a form at a time.
            path if is_form_upload(path) => Some(MAX_UPLOAD + PIECES),
            _ => None,
        };
        let metered = Arc::new(Self {
            budget: Arc::clone(budget),
            length: body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX)),
            in_pieces,
            owner: OnceLock::new(),
            address: Client::address_of(&parts).map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), network),
            expects: parts.headers.contains_key(header::EXPECT),
            unread: parts.extensions.get::<Unread>().cloned(),
            progress: Mutex::default(),
        });
        parts.extensions.insert(Arc::clone(&metered));
        let body = MeteredBody { inner: Some(body), taking: None, request: Arc::clone(&metered) };
        (Request::from_parts(parts, Body::new(body)), Some(metered))
    }

    pub fn of(request: &Request) -> Option<Arc<Self>> {
        request.extensions().get::<Arc<Self>>().cloned()
    }

    /// From now on it counts as theirs.
    pub fn set_owner(&self, owner: BodyOwner) {
        let _known_already = self.owner.set(owner);
    }

    /// Why it was not read to its end, if there was no room for it.
    pub fn refusal(&self) -> Option<BodyRefusal> {
        lock(&self.progress).refusal
    }

    /// Has what comes hashed. Asked before any of it is read.
    pub fn hash(&self) {
        lock(&self.progress).hash = Some(Hasher::default());
    }

    /// The hash of all of it, up to `most` bytes; what nobody has read yet is read for it, and not kept. `None`: it did not
    /// come whole.
    pub async fn hash_of_all(&self, most: usize) -> Option<String> {
        let rest = lock(&self.progress).rest.take();
        if let Some(mut rest) = rest {
            let read = async {
                while let Some(piece) = next_piece(&mut rest).await {
                    let Ok(piece) = piece else { return false };
                    let mut progress = lock(&self.progress);
                    progress.take(&piece);
                    if progress.received > most {
                        return false;
                    }
                }
                true
            };
            let whole = tokio::time::timeout(HASH_WITHIN, read).await.unwrap_or(false);
            lock(&self.progress).whole |= whole;
        }
        let mut progress = lock(&self.progress);
        if progress.whole { progress.hash.take().map(Hasher::finish) } else { None }
    }

    /// Reads a short rest of it, or has the answer say that the connection ends: what is left unread would be taken for the
    /// next request.
    pub async fn end(&self, version: Version, response: &mut Response) {
        let rest = {
            let mut progress = lock(&self.progress);
            progress.ticket = None;
            if progress.whole || version >= Version::HTTP_2 {
                return;
            }
            progress.rest.take().filter(|_| !self.expects || progress.received > 0)
        };
        let read = match rest {
            Some(rest) => tokio::time::timeout(REST_WITHIN, read_short(rest)).await.unwrap_or(false),
            None => false,
        };
        if !read {
            if let Some(unread) = &self.unread {
                unread.note();
            }
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Bytes that there must be room for before any of it is read.
    fn first_room(&self) -> usize {
        let length = self.length.unwrap_or(STEP);
        self.in_pieces.map_or(length, |most| length.min(most))
    }

    fn take_room(&self) -> BoxFuture<'static, Result<BodyTicket, BodyRefusal>> {
        let owner = self.owner.get().copied().unwrap_or(BodyOwner::Stranger(self.address));
        let (budget, bytes) = (Arc::clone(&self.budget), self.first_room());
        async move { budget.take(owner, bytes).await }.boxed()
    }

    fn keep(&self, ticket: BodyTicket) {
        let mut progress = lock(&self.progress);
        progress.ticket = Some(ticket);
        progress.room = self.in_pieces.unwrap_or_else(|| self.first_room());
    }

    fn refuse(&self, refusal: BodyRefusal) -> axum::Error {
        lock(&self.progress).refusal = Some(refusal);
        axum::Error::new(io::Error::other("there is no room for the body"))
    }

    /// Whether there is room for the piece.
    fn receive(&self, piece: &Bytes) -> bool {
        let mut progress = lock(&self.progress);
        progress.take(piece);
        if self.in_pieces.is_some() || self.length.is_some() {
            return true;
        }
        while progress.received > progress.room {
            if !progress.ticket.as_ref().is_some_and(|ticket| ticket.grow(STEP)) {
                return false;
            }
            progress.room += STEP;
        }
        true
    }

    fn is_given_up(&self, context: &Context<'_>) -> bool {
        lock(&self.progress).ticket.as_ref().is_some_and(|ticket| ticket.is_given_up(context))
    }

    fn end_of_body(&self) {
        let mut progress = lock(&self.progress);
        progress.whole = true;
        if let Some(ticket) = &progress.ticket {
            ticket.keep();
        }
    }
}

impl Progress {
    fn take(&mut self, piece: &Bytes) {
        self.received += piece.len();
        if let Some(hash) = &mut self.hash {
            hash.update(piece);
        }
    }
}

async fn next_piece(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// Whether nothing is left of it.
async fn read_short(mut rest: Body) -> bool {
    if rest.size_hint().lower() > MAX_REST as u64 {
        return false;
    }
    let mut read = 0;
    while let Some(piece) = next_piece(&mut rest).await {
        read += piece.map_or(usize::MAX, |piece| piece.len());
        if read > MAX_REST {
            return false;
        }
    }
    true
}

struct MeteredBody {
    inner: Option<Body>,
    taking: Option<BoxFuture<'static, Result<BodyTicket, BodyRefusal>>>,
    request: Arc<RequestBody>,
}

impl hyper::body::Body for MeteredBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { inner, taking, request } = self.get_mut();
        if lock(&request.progress).ticket.is_none() {
            let room = taking.get_or_insert_with(|| request.take_room());
            let taken = ready!(room.as_mut().poll(context));
            *taking = None;
            match taken {
                Ok(ticket) => request.keep(ticket),
                Err(refusal) => return Poll::Ready(Some(Err(request.refuse(refusal)))),
            }
        }
        if request.is_given_up(context) {
            return Poll::Ready(Some(Err(request.refuse(BodyRefusal::OverShare))));
        }
        let Some(body) = inner else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(&mut *body).poll_frame(context));
        let Some(Ok(piece)) = &frame else {
            if frame.is_none() {
                request.end_of_body();
            }
            return Poll::Ready(frame);
        };
        if !piece.data_ref().is_none_or(|piece| request.receive(piece)) {
            return Poll::Ready(Some(Err(request.refuse(BodyRefusal::Full))));
        }
        if body.is_end_stream() {
            request.end_of_body();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(axum::body::HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(SizeHint::default, axum::body::HttpBody::size_hint)
    }
}

impl Drop for MeteredBody {
    fn drop(&mut self) {
        let mut progress = lock(&self.request.progress);
        if !progress.whole {
            progress.rest = self.inner.take();
        }
    }
}
