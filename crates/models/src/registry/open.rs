//! A reply from its first content on, with its cost, and what it says about the connection.

use futures::{Stream, StreamExt};
use steward_core::model::{Connection, ModelChunk, ModelError};
use steward_core::ports::ChunkStream;

use super::board::Permit;
use super::words;
use crate::price::Prices;

/// Chunks kept back at most before first content.
const HELD: usize = 256;

/// A reply that has begun: what came before its first content, that, and the rest.
pub(super) struct Begun {
    held: Vec<ModelChunk>,
    rest: ChunkStream,
}

/// Waits for the first content. Blank text is none: an answer may turn out to be nothing else.
pub(super) async fn begun(connection: &Connection, mut stream: ChunkStream) -> Result<Begun, ModelError> {
    let mut held = Vec::new();
    while let Some(item) = stream.next().await {
        let chunk = item?;
        if let ModelChunk::End { finish, .. } = &chunk {
            return Err(words::nothing_came(connection, Some(finish)));
        }
        let content = is_content(&chunk);
        held.push(chunk);
        if content || held.len() >= HELD {
            return Ok(Begun { held, rest: stream });
        }
    }
    Err(words::nothing_came(connection, None))
}

fn is_content(chunk: &ModelChunk) -> bool {
    match chunk {
        ModelChunk::Text(text) | ModelChunk::Reasoning(text) => !text.trim().is_empty(),
        ModelChunk::ToolCall { .. } => true,
        ModelChunk::Signature { .. } | ModelChunk::End { .. } => false,
    }
}

impl Begun {
    /// All chunks, unchanged but for the cost in the last.
    pub fn replay(self, connection: Connection, permit: Permit, prices: Prices) -> ChunkStream {
        let held = futures::stream::iter(self.held.into_iter().map(Ok));
        watched(held.chain(self.rest), connection, permit, prices).boxed()
    }
}

/// The same chunks; the permit is told how it went.
pub(super) fn watched(
    stream: impl Stream<Item = Result<ModelChunk, ModelError>> + Send + 'static,
    connection: Connection,
    permit: Permit,
    prices: Prices,
) -> impl Stream<Item = Result<ModelChunk, ModelError>> + Send + 'static {
    let mut permit = Some(permit);
    stream.map(move |item| match item {
        Ok(mut chunk) => {
            if let ModelChunk::End { usage, model, .. } = &mut chunk {
                prices.fill(&connection, model, usage);
                if let Some(permit) = permit.take() {
                    permit.completed();
                }
            } else if let Some(permit) = permit.as_mut().filter(|_| is_content(&chunk)) {
                permit.answered();
            }
            Ok(chunk)
        }
        Err(error) => {
            if let Some(permit) = permit.take() {
                permit.failed(&error);
            }
            Err(error)
        }
    })
}
