//! Embeddings from an endpoint: of the OpenAI dialect, Ollama, Gemini and Cohere.

use super::error_messages::Origin;
use super::send::Outgoing;
use super::{Client, Limits, wire_of};
use crate::native;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Provider, Wire};

/// Most text in one request, bytes: some endpoints limit the tokens.
const BATCH_BYTES: usize = 256 << 10;

impl Client {
    /// In the order of `texts`. Long lists are split into several requests; `limit` is for all of them.
    pub async fn embed(
        &self,
        connection: &Connection,
        texts: &[String],
        limit: Duration,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let limits = self.limits_of(limit, 0);
        let mut all = Vec::with_capacity(texts.len());
        for batch in batches(texts, batch_size(connection)) {
            all.extend(self.embed_batch(connection, batch, &limits).await?);
        }
        let dimensions = all.first().map_or(0, Vec::len);
        if all.iter().any(|vector| vector.len() != dimensions) {
            let origin = Origin::of(connection);
            return Err(origin.not_an_answer("vectors of different lengths"));
        }
        Ok(all)
    }

    async fn embed_batch(
        &self,
        connection: &Connection,
        texts: &[String],
        limits: &Limits,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let outgoing = request(connection, texts)?;
        let (origin, value) = self.send_for_json(connection, &outgoing, limits).await?;
        match read(&value) {
            Some(vectors) if vectors.len() == texts.len() => Ok(vectors),
            Some(vectors) => {
                let what = format!("{} vectors for {} texts", vectors.len(), texts.len());
                Err(origin.not_an_answer(&what))
            }
            None => {
                let error = origin.not_an_answer("something that holds no vectors");
                Err(origin.with_detail(error, &value.to_string()))
            }
        }
    }
}

fn batch_size(connection: &Connection) -> usize {
    match connection.provider {
        Provider::Cohere => 96,
        Provider::Gemini => 100,
        Provider::OpenAi | Provider::AzureOpenAi => 512,
        _ => 64,
    }
}

fn batches(texts: &[String], most: usize) -> Vec<&[String]> {
    let mut found = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        if at > start && (at - start == most || bytes + text.len() > BATCH_BYTES) {
            found.push(&texts[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += text.len();
    }
    if start < texts.len() {
        found.push(&texts[start..]);
    }
    found
}

fn request(connection: &Connection, texts: &[String]) -> Result<Outgoing, ModelError> {
    let native = wire_of(connection) == Wire::Native;
    let model = &connection.model;
    let (path, body) = match connection.provider {
        Provider::Anthropic | Provider::Bedrock if native => return Err(none(connection)),
        Provider::Ollama => ("api/embed".to_owned(), json!({"model": model, "input": texts})),
        Provider::Gemini if native => {
            let name = match model.split_once('/') {
                Some(_) => model.clone(),
                None => format!("models/{model}"),
            };
            let one = |text| json!({"model": name, "content": {"parts": [{"text": text}]}});
            let requests: Vec<Value> = texts.iter().map(one).collect();
            (native::gemini_path(connection, "batchEmbedContents"), json!({"requests": requests}))
        }
        Provider::Cohere if native => (
            "v2/embed".to_owned(),
            json!({
                "model": model,
                "texts": texts,
                "input_type": "search_document",
                "embedding_types": ["float"],
            }),
        ),
        _ => {
            let body = json!({"model": model, "input": texts});
            return Ok(Outgoing::post("embeddings", &body));
        }
    };
    Ok(Outgoing::post_native(path, &body))
}

fn none(connection: &Connection) -> ModelError {
    ModelError::new(
        ModelErrorClass::BadRequest,
        format!("connection `{}`: this provider makes no embeddings", connection.name),
        "choose a connection of OpenAI, Azure, Gemini, Cohere, Ollama or a compatible server, or the built-in embedder",
    )
}

fn read(value: &Value) -> Option<Vec<Vec<f32>>> {
    if let Some(data) = value.get("data").and_then(Value::as_array) {
        let mut found = Vec::with_capacity(data.len());
        for (at, item) in data.iter().enumerate() {
            let index = item.get("index").and_then(Value::as_u64);
            let index = index.map_or(Some(at), |n| usize::try_from(n).ok())?;
            found.push((index, vector(item.get("embedding")?)?));
        }
        found.sort_by_key(|(index, _)| *index);
        return Some(found.into_iter().map(|(_, vector)| vector).collect());
    }
    let list = value.get("embeddings")?;
    let list = list.get("float").unwrap_or(list).as_array()?;
    let vectors = list.iter().map(|item| vector(item.get("values").unwrap_or(item)));
    vectors.collect()
}

fn vector(value: &Value) -> Option<Vec<f32>> {
    #[expect(clippy::cast_possible_truncation, reason = "embeddings are single precision")]
    let numbers = value.as_array()?.iter().map(|n| n.as_f64().map(|n| n as f32));
    let numbers: Option<Vec<f32>> = numbers.collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{batches, read};
    use serde_json::json;

    #[test]
    fn batches_keep_the_order_and_the_limits() {
        let texts: Vec<String> = (0..7).map(|n| n.to_string()).collect();
        let sizes = |most| -> Vec<usize> { batches(&texts, most).iter().map(|b| b.len()).collect() };
        assert_eq!(sizes(3), [3, 3, 1]);
        assert_eq!(sizes(7), [7]);
        assert!(batches(&[], 3).is_empty());
        let long = vec!["x".repeat(200 << 10); 3];
        assert_eq!(batches(&long, 9).len(), 3);
        let huge = vec!["x".repeat(900 << 10)];
        assert_eq!(batches(&huge, 9).len(), 1);
        assert_eq!(batches(&texts, 3).concat(), texts);
    }

    #[test]
    fn every_shape() {
        let expect = Some(vec![vec![1.0], vec![2.0]]);
        for value in [
            json!({"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]}),
            json!({"data": [{"embedding": [1]}, {"embedding": [2]}]}),
            json!({"embeddings": [[1], [2.0]]}),
            json!({"embeddings": [{"values": [1]}, {"values": [2]}]}),
            json!({"embeddings": {"float": [[1], [2]]}}),
        ] {
            assert_eq!(read(&value), expect, "{value}");
        }
        for value in [json!({}), json!({"data": [{"embedding": []}]}), json!({"embeddings": [["x"]]})] {
            assert_eq!(read(&value), None, "{value}");
        }
    }
}
