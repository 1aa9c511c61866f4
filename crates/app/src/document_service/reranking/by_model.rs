//! Re-ranking by a model of a connection: it gives each passage a number, in a form that its server holds it to.

use crate::document_service::classification::DocumentClassification;
use crate::document_service::embedding::{Endpoints, Purpose};
use futures::StreamExt as _;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;
use std::time::Duration;
use steward_core::message::Message;
use steward_core::model::{Connection, ModelChunk, ModelError, ModelRequest, RequestOptions, Usage};
use steward_core::{ConnectionId, UserId};

const INSTRUCTIONS: &str = include_str!("../../../prompts/rerank.md");
/// Longest wait for its answer.
const LIMIT: Duration = Duration::from_secs(12);
/// Characters of a passage that it is sent.
const PASSAGE: usize = 1200;
/// Tokens of its answer: three for each number, and some around them.
const ANSWER: u32 = 200;
const BEST: u8 = 10;

#[derive(Deserialize)]
struct Answer {
    scores: Vec<u8>,
}

impl Endpoints {
    /// The connection of an agent, or the usual one, if its model is a capable one that keeps to a form.
    pub async fn capable(&self, wanted: Option<ConnectionId>) -> Option<Connection> {
        let found = self.parts.models.select(wanted).await.ok()?;
        (found.capabilities.trusted && found.capabilities.json_schema).then_some(found)
    }

    /// A number from 0 to 10 for each passage, on the account of who asks. `highest`: what the passages are classified as at most.
    pub async fn scores(
        &self,
        connection: &Connection,
        (question, user): (&str, Option<UserId>),
        passages: &[String],
        highest: DocumentClassification,
    ) -> Result<Vec<f64>, String> {
        let mut text = format!("Question: {question}\n");
        for (number, passage) in (1..).zip(passages) {
            let passage: String = passage.chars().take(PASSAGE).collect();
            // A text can always be written to.
            let _ = write!(text, "\n[{number}]\n{passage}\n");
        }
        let texts = [text];
        self.check_data(connection, &texts, Purpose::Passages(highest, user)).await.map_err(|why| why.message)?;
        let [text] = texts;
        let bytes = INSTRUCTIONS.len() + text.len();
        let call = self.reserve(connection, user, bytes as u64, ANSWER.into(), LIMIT).await;
        let mut call = call.map_err(|why| why.message)?;
        let asked = self.ask(connection, request(text, passages.len()));
        let answered = tokio::time::timeout(LIMIT, asked).await;
        let (answer, usage) = match answered {
            Ok(Ok(answered)) => answered,
            Ok(Err(error)) => {
                call.settle(None, true);
                return Err(error.message);
            }
            Err(_) => {
                call.settle(None, true);
                return Err(format!("`{}` took longer than {} seconds", connection.name, LIMIT.as_secs()));
            }
        };
        call.settle(Some(usage), false);
        read(&answer, passages.len()).ok_or_else(|| format!("`{}` did not give each passage a number", connection.name))
    }

    async fn ask(&self, connection: &Connection, request: ModelRequest) -> Result<(String, Usage), ModelError> {
        let mut stream = self.parts.models.stream(connection.id, request).await?;
        let (mut text, mut used) = (String::new(), Usage::default());
        while let Some(chunk) = stream.next().await {
            match chunk? {
                ModelChunk::Text(piece) => text.push_str(&piece),
                ModelChunk::End { usage, .. } => used = usage,
                _ => {}
            }
        }
        Ok((text, used))
    }
}

fn request(text: String, passages: usize) -> ModelRequest {
    let number = json!({"type": "integer", "minimum": 0, "maximum": BEST});
    let scores = json!({"type": "array", "items": number, "minItems": passages, "maxItems": passages});
    ModelRequest {
        messages: vec![Message::system(INSTRUCTIONS), Message::user(text)],
        tools: Vec::new(),
        schema: Some(json!({
            "type": "object", "properties": {"scores": scores}, "required": ["scores"], "additionalProperties": false,
        })),
        temperature: Some(0.0),
        max_tokens: Some(ANSWER),
        stop: Vec::new(),
        seed: None,
        timeout_ms: u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX),
        options: RequestOptions::default(),
    }
}

/// `None`: it is not what was asked for. Some models put the object into a fence.
fn read(answer: &str, passages: usize) -> Option<Vec<f64>> {
    let object = answer.get(answer.find('{')?..=answer.rfind('}')?)?;
    let answer: Answer = serde_json::from_str(object).ok()?;
    let fits = answer.scores.len() == passages && answer.scores.iter().all(|score| *score <= BEST);
    fits.then(|| answer.scores.into_iter().map(f64::from).collect())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_a_number_for_each_passage_counts() {
        assert_eq!(read("{\"scores\": [1, 10]}", 2), Some(vec![1.0, 10.0]));
        assert_eq!(read("```json\n{\"scores\": [0]}\n```", 1), Some(vec![0.0]));
        for (answer, passages) in [
            ("{\"scores\": [1]}", 2),
            ("{\"scores\": [1, 11]}", 2),
            ("{\"scores\": [-1, 2]}", 2),
            ("{\"scores\": [0.5, 2]}", 2),
            ("1, 2", 2),
            ("} {", 0),
            ("", 0),
        ] {
            assert_eq!(read(answer, passages), None, "{answer}");
        }
    }
}
