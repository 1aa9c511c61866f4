//! One attempt: an endpoint's answer up to its first content, or whole where it is one document.

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use reqwest::Response;
use reqwest::header::HeaderMap;
use std::time::Duration;
use steward_core::model::{Connection, ModelError, Provider};
use steward_core::passing::Asked;
use steward_core::ports::{ByteStream, Passage};
use tokio::time::timeout;

use super::headers::{is_events, passed};
use super::signs;
use crate::openai::{Client, Limits, Origin, bytes, judged, judged_in_band};

/// Longest document that is read before it goes on, bytes. Up to there, one that breaks off is asked for elsewhere.
const WHOLE: usize = 8 << 20;
/// Most that is kept back before first content, bytes.
const HELD: usize = 64 << 10;

/// What an endpoint answered.
pub(super) struct Answer {
    pub origin: Origin,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// What has come so far.
    pub begin: Bytes,
    /// What is still to come.
    pub rest: Option<ByteStream>,
    /// Whether it is a stream of events, which has an end of its own.
    pub events: bool,
}

/// A refusal: what it means, and as it came.
pub(super) struct Refused {
    pub error: ModelError,
    /// None where there was no answer at all.
    pub raw: Option<Box<Answer>>,
}

impl From<ModelError> for Refused {
    fn from(error: ModelError) -> Self {
        Self { error, raw: None }
    }
}

/// The model's name as its endpoint knows it. The built-in one goes by no name: its connection's is a file's path.
fn wire_model(connection: &Connection) -> &str {
    match connection.provider {
        Provider::Local => "",
        _ => &connection.model,
    }
}

/// What is passed to whom.
pub(super) struct Passing<'a> {
    pub client: &'a Client,
    pub passage: Passage,
    pub body: &'a Bytes,
    pub asked: &'a Asked,
}

impl Passing<'_> {
    /// Asks one connection by its own model's name.
    pub async fn ask(&self, connection: &Connection, left: Duration) -> Result<Answer, Refused> {
        let limits = self.client.passing_limits(left);
        let body = Bytes::from(self.asked.with_model(self.body, wire_model(connection)));
        let sent = self.client.pass(connection, self.passage, body, &limits);
        let (origin, response) = sent.await?;
        let status = response.status();
        let headers = response.headers().clone();
        let events = is_events(&headers);
        if !status.is_success() {
            return Err(refused(origin, response, limits).await);
        }
        if events {
            return self.first_content(origin, response, limits).await;
        }
        let (begin, rest) = read(&origin, response, limits, WHOLE).await?;
        if let Some(error) = Some(&begin)
            .filter(|begin| begin.trim_ascii_start().starts_with(b"{\"error\""))
            .and_then(|begin| signs::error_object(begin))
        {
            return Err(judged_in_band(&origin, &error).into());
        }
        if rest.is_none() && !signs::looks_whole(&begin) {
            let error = origin.not_an_answer("something that is no JSON");
            let raw = String::from_utf8_lossy(&begin[..begin.len().min(2048)]);
            return Err(origin.with_detail(error, &raw).into());
        }
        Ok(answer(origin, status.as_u16(), &headers, begin, rest))
    }

    /// Keeps back what comes before first content, so that another connection can still be asked.
    async fn first_content(&self, origin: Origin, response: Response, limits: Limits) -> Result<Answer, Refused> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut rest = bytes(origin.clone(), response, limits);
        let stage = limits.timeouts.first_content;
        let first = async {
            let mut held = BytesMut::new();
            while let Some(piece) = rest.next().await {
                let piece = piece?;
                // Mostly the first piece has content, and goes on without a copy.
                let (all, size) = if held.is_empty() {
                    (piece.clone(), piece.len())
                } else {
                    held.extend_from_slice(&piece);
                    (Bytes::copy_from_slice(&held), held.len())
                };
                if let Some(error) = signs::error_event(&all) {
                    return Err(judged_in_band(&origin, &error));
                }
                if size > HELD || signs::has_content(&all, self.passage) {
                    return Ok(all);
                }
                if held.is_empty() {
                    held.extend_from_slice(&piece);
                }
            }
            Err(origin.not_an_answer("a stream that ended before it had content"))
        };
        let Ok(begin) = timeout(limits.left(stage), first).await else {
            let setting = "models.first_content_timeout_ms";
            return Err(limits.error(&origin, "no content came", stage, setting).into());
        };
        let begin = begin?;
        Ok(answer(origin, status, &headers, begin, Some(rest)))
    }
}

fn answer(origin: Origin, status: u16, headers: &HeaderMap, begin: Bytes, rest: Option<ByteStream>) -> Answer {
    let events = is_events(headers);
    let mut headers = passed(headers);
    if rest.is_none() {
        headers.push(("content-length".to_owned(), begin.len().to_string()));
    }
    Answer { origin, status, headers, begin, rest, events }
}

async fn refused(origin: Origin, response: Response, limits: Limits) -> Refused {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let (begin, rest) = match read(&origin, response, limits, 1 << 20).await {
        Ok(read) => read,
        Err(error) => return error.into(),
    };
    let error = judged(&origin, status, &headers, &String::from_utf8_lossy(&begin));
    let begin = origin.scrubbed(begin);
    let raw = answer(origin, status, &headers, begin, rest);
    Refused { error, raw: Some(Box::new(raw)) }
}

/// The body up to `most` bytes, and what is left of it if there is more.
async fn read(
    origin: &Origin,
    response: Response,
    limits: Limits,
    most: usize,
) -> Result<(Bytes, Option<ByteStream>), ModelError> {
    let mut rest = bytes(origin.clone(), response, limits);
    let Some(first) = rest.next().await.transpose()? else {
        return Ok((Bytes::new(), None));
    };
    let Some(second) = rest.next().await.transpose()? else {
        return Ok((first, None));
    };
    let mut all = BytesMut::from(first);
    all.extend_from_slice(&second);
    while all.len() < most {
        match rest.next().await.transpose()? {
            Some(piece) => all.extend_from_slice(&piece),
            None => return Ok((all.freeze(), None)),
        }
    }
    Ok((all.freeze(), Some(rest)))
}
