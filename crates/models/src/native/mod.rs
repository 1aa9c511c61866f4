//! The providers' own interfaces: Anthropic messages, Gemini, Cohere, Bedrock Converse and Ollama.
//! Each is a pure pair, a request's body and a stream's decoder; [`crate::openai`] sends and reads.

mod anthropic;
mod aws_events;
mod bedrock;
mod choose;
mod cohere;
mod gemini;
mod lines;
mod ollama;
mod turns;

pub(crate) use aws_events::AwsParser;
pub(crate) use choose::{function, is_native, listing, manner, request, rounded};
pub(crate) use gemini::path as gemini_path;
pub(crate) use lines::LineParser;
