//! Reads a response within its time limits.

use super::Limits;
use super::decode::{Decode, Fault, ReplyDecoder, ReplyState, is_error};
use super::error_messages::Origin;
use super::finish_reason::{is_failure, known_or_cut};
use super::sse::{BadFrame, EventParser, SseParser};
use super::transport::causes_without_url;
use bytes::Bytes;
use futures::{Stream, StreamExt};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_core::model::{ModelChunk, ModelError, Usage};
use steward_core::ports::ChunkStream;
use tokio::time::timeout;

/// Longest body read as a whole, bytes.
const WHOLE_LIMIT: usize = 16 << 20;
/// Longest stream, bytes: some 300 for each token of the longest answer that any model gives.
const LONGEST_STREAM: usize = 128 << 20;
/// How long a finished reply waits for its usage if the server neither sends an end nor closes.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes kept of a body that turns out to be no stream.
const HEAD: usize = 4096;

type Chunk = Result<ModelChunk, ModelError>;

/// How the bytes of one wire's stream become events, and these become chunks.
pub(crate) struct StreamFormat {
    pub parser: Box<dyn EventParser>,
    pub decoder: ReplyDecoder,
}

impl StreamFormat {
    pub fn new(parser: impl EventParser + 'static, decoder: impl Decode + 'static) -> Self {
        Self { parser: Box::new(parser), decoder: ReplyDecoder::new(decoder) }
    }

    pub fn sse(decoder: impl Decode + 'static) -> Self {
        Self::new(SseParser::default(), decoder)
    }
}

pub(super) fn is_whole(response: &Response, parser: &dyn EventParser) -> bool {
    content_type(response.headers()).is_some_and(|kind| {
        // Streams of JSON lines have many content types, and one line is also a document.
        kind.contains("html") || (kind.contains("json") && !parser.is_of_documents())
    })
}

pub(crate) fn content_type(headers: &HeaderMap) -> Option<String> {
    let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.split(';').next().unwrap_or_default().trim().to_lowercase())
}

/// Up to a limit.
pub(super) async fn text(mut response: Response, origin: &Origin, limits: &Limits) -> Result<String, ModelError> {
    let mut bytes = Vec::new();
    while bytes.len() < WHOLE_LIMIT {
        match timeout(limits.left(limits.timeouts.idle), response.chunk()).await {
            Ok(Ok(Some(piece))) => bytes.extend_from_slice(&piece),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(origin.broken(&causes_without_url(&error), Usage::default())),
            Err(_) => return Err(limits.idle(origin)),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Some servers answer with one document whatever is asked.
pub(super) async fn read_whole(
    response: Response,
    format: StreamFormat,
    origin: Origin,
    limits: Limits,
) -> Result<ChunkStream, ModelError> {
    let kind = content_type(response.headers()).unwrap_or_default();
    let result = async {
        let raw = text(response, &origin, &limits).await?;
        let nonsense = || origin.with_detail(origin.not_an_answer(&format!("`{kind}`")), &raw);
        let value: Value = serde_json::from_str(&raw).map_err(|_| nonsense())?;
        let mut reader = Reader::new(format, &origin, &limits);
        let read = if is_error(&value) {
            Err(Fault::InBand(value))
        } else {
            reader.decoder.whole(&value).ok_or_else(nonsense)?
        };
        let mut chunks = read.map_err(|fault| reader.fault(fault))?;
        chunks.push(reader.end(true)?);
        Ok(chunks)
    };
    let chunks: Vec<ModelChunk> = result.await?;
    Ok(futures::stream::iter(chunks.into_iter().map(Ok)).boxed())
}

/// Ends after an error.
pub(super) fn read(
    mut response: Response,
    format: StreamFormat,
    origin: Origin,
    limits: Limits,
) -> impl Stream<Item = Chunk> + Send {
    async_stream::try_stream! {
        let mut reader = Reader::new(format, &origin, &limits);
        let mut received = 0;
        loop {
            let piece = match timeout(reader.patience(), response.chunk()).await {
                Ok(Ok(piece)) => piece,
                // Everything needed has come.
                _ if reader.state().is_finished() => None,
                Ok(Err(error)) => Err(reader.lost(&causes_without_url(&error)))?,
                Err(_) => Err(reader.silence())?,
            };
            received += piece.as_ref().map_or(0, Bytes::len);
            if received > LONGEST_STREAM {
                Err(origin.not_an_answer("an endless answer"))?;
            }
            let events = match &piece {
                Some(bytes) => reader.feed(bytes)?,
                None => reader.parser.finish().into_iter().collect(),
            };
            for event in events {
                for chunk in reader.decoder.event(&event).map_err(|fault| reader.fault(fault))? {
                    yield chunk;
                }
            }
            if piece.is_none() || reader.state().done {
                yield reader.end(false)?;
                return;
            }
        }
    }
}

struct Reader<'a> {
    origin: &'a Origin,
    limits: &'a Limits,
    since: Instant,
    parser: Box<dyn EventParser>,
    decoder: ReplyDecoder,
    /// The beginning of the body, until the first event.
    head: Vec<u8>,
    any_event: bool,
}

impl<'a> Reader<'a> {
    fn new(format: StreamFormat, origin: &'a Origin, limits: &'a Limits) -> Self {
        Self {
            origin,
            limits,
            since: Instant::now(),
            parser: format.parser,
            decoder: format.decoder,
            head: Vec::new(),
            any_event: false,
        }
    }

    fn state(&self) -> &ReplyState {
        &self.decoder.state
    }

    fn patience(&self) -> Duration {
        let timeouts = self.limits.timeouts;
        let stage = if self.state().is_finished() {
            GRACE
        } else if self.state().has_answer() {
            timeouts.idle
        } else {
            // Comments that keep the connection alive are no content.
            timeouts.first_content.saturating_sub(self.since.elapsed())
        };
        self.limits.left(stage)
    }

    fn silence(&self) -> ModelError {
        if self.state().has_answer() {
            self.limits.idle(self.origin)
        } else {
            let stage = self.limits.timeouts.first_content;
            self.limits.error(self.origin, "no content came", stage, "models.first_content_timeout_ms")
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, ModelError> {
        if !self.any_event && self.head.len() < HEAD {
            self.head.extend_from_slice(bytes);
        }
        let events = self.parser.feed(bytes).map_err(|bad| {
            let what = match bad {
                BadFrame::TooLarge => "one endless event",
                BadFrame::Corrupt => "something that is no event stream",
            };
            let error = self.origin.not_an_answer(what);
            self.origin.with_detail(error, &String::from_utf8_lossy(&self.head))
        })?;
        self.any_event |= !events.is_empty();
        Ok(events)
    }

    fn lost(&self, why: &str) -> ModelError {
        self.origin.broken(why, self.state().usage)
    }

    fn fault(&self, fault: Fault) -> ModelError {
        match fault {
            Fault::Nonsense(raw) => {
                let error = self.origin.broken("an event is no JSON", self.state().usage);
                self.origin.with_detail(error, &raw)
            }
            Fault::InBand(value) => self.origin.in_band_error(&value),
        }
    }

    /// The last chunk, or the error. A reply in one piece needs no finish reason.
    fn end(&mut self, whole: bool) -> Chunk {
        let usage = self.state().usage;
        if !whole && !self.state().is_finished() {
            let error = if self.any_event || self.state().has_answer() {
                self.origin.broken("it ended without a finish reason", usage)
            } else if self.head.is_empty() {
                self.origin.broken("it ended before it began", usage)
            } else {
                self.origin.not_an_answer("something that is no event stream")
            };
            let raw = if self.any_event { "".into() } else { String::from_utf8_lossy(&self.head) };
            return Err(self.origin.with_detail(error, &raw));
        }
        let finish = self.state().finish();
        if is_failure(finish) {
            let told = format!("it broke the answer off, and says only `{finish}` of why");
            return Err(self.origin.in_band_error(&json!({"error": {"message": told}})));
        }
        if !self.state().has_answer() {
            return Err(self.origin.empty(finish, usage, self.limits.max_tokens));
        }
        self.decoder.state.finish = Some(known_or_cut(finish).to_owned());
        Ok(self.state().end(&self.origin.connection.model))
    }
}
