//! How the events of a stream are told apart. Each framing gives the JSON text of an event.

use super::sse::SseParser;
use crate::native::{AwsParser, LineParser};

/// Kinds of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Sse,
    /// A JSON document per line.
    Lines,
    /// Amazon's binary event stream.
    Aws,
}

/// Why bytes are no stream of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadFrame {
    /// One event is larger than any is.
    TooLarge,
    /// Its own checksums or lengths are wrong.
    Corrupt,
}

/// Takes bytes in pieces of any size.
#[derive(Debug)]
pub(super) enum Parser {
    Sse(SseParser),
    Lines(LineParser),
    Aws(AwsParser),
}

impl Parser {
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::Sse => Self::Sse(SseParser::default()),
            Framing::Lines => Self::Lines(LineParser::default()),
            Framing::Aws => Self::Aws(AwsParser::default()),
        }
    }

    /// The events that `bytes` completed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, BadFrame> {
        match self {
            Self::Sse(parser) => parser.feed(bytes).map_err(|_| BadFrame::TooLarge),
            Self::Lines(parser) => parser.feed(bytes),
            Self::Aws(parser) => parser.feed(bytes),
        }
    }

    /// The event that the end of the stream completed.
    pub fn finish(&mut self) -> Option<String> {
        match self {
            Self::Sse(parser) => parser.finish(),
            Self::Lines(parser) => parser.finish(),
            // A frame that is cut off is none; the reply is then found unfinished.
            Self::Aws(_) => None,
        }
    }
}
