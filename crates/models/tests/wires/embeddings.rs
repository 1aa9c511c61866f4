use crate::support::client;
use crate::wires::server::{Answer, Seen, Server};
use crate::wires::table::CASES;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::model::{ModelErrorClass, Provider};

const LIMIT: Duration = Duration::from_secs(5);

/// A vector that tells which text it belongs to.
fn vector(text: &Value) -> Value {
    let number: f64 = text.as_str().unwrap().parse().unwrap();
    json!([number, 0.5])
}

fn answer(seen: &Seen) -> Option<Answer> {
    let body = &seen.body;
    let list = |field: &str| body[field].as_array().cloned().unwrap_or_default();
    let value = match seen.target.as_str() {
        "/v1/embeddings" => {
            let texts = list("input");
            // Out of order, as the index allows.
            let items = texts.iter().enumerate().rev();
            let data: Vec<Value> = items
                .map(|(at, text)| json!({"object": "embedding", "index": at, "embedding": vector(text)}))
                .collect();
            json!({"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 8, "total_tokens": 8}})
        }
        "/api/embed" => {
            let vectors: Vec<Value> = list("input").iter().map(vector).collect();
            json!({"model": "m", "embeddings": vectors, "total_duration": 14_143_917, "prompt_eval_count": 8})
        }
        "/v1beta/models/asked:batchEmbedContents" => {
            let requests = list("requests");
            let texts = requests.iter().map(|r| &r["content"]["parts"][0]["text"]);
            let vectors: Vec<Value> = texts.map(|text| json!({"values": vector(text)})).collect();
            json!({"embeddings": vectors})
        }
        "/v2/embed" => {
            let vectors: Vec<Value> = list("texts").iter().map(vector).collect();
            json!({"id": "x", "embeddings": {"float": vectors}, "texts": body["texts"], "meta": {"api_version": {"version": "2"}}, "response_type": "embeddings_by_type"})
        }
        _ => return None,
    };
    Some(Answer::json(&value))
}

#[tokio::test]
async fn vectors_keep_the_order_of_the_texts() {
    let texts: Vec<String> = (0..150).map(|n| n.to_string()).collect();
    for (name, requests) in [("openai", 1), ("vllm", 3), ("ollama", 3), ("ollama_v1", 3), ("gemini", 2), ("cohere", 2)]
    {
        let server = Server::start(answer).await;
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let connection = case.connection(&server);
        let vectors = client().embed(&connection, &texts, LIMIT).await.unwrap();
        assert_eq!(vectors.len(), 150, "{name}");
        for (at, vector) in (0_u16..).zip(&vectors) {
            assert_eq!(vector, &[f32::from(at), 0.5], "{name}");
        }
        assert_eq!(server.seen().len(), requests, "{name}");
    }
}

#[tokio::test]
async fn what_goes_wrong() {
    let texts = ["1".to_owned(), "2".to_owned()];
    let check = async |answer: Answer, class: ModelErrorClass, words: &str| {
        let server = Server::always(answer).await;
        let connection = CASES[0].connection(&server);
        let error = client().embed(&connection, &texts, LIMIT).await.unwrap_err();
        assert_eq!(error.class, class, "{error:?}");
        assert!(error.message.contains(words), "{error:?}");
    };
    let one = json!({"data": [{"index": 0, "embedding": [1]}]});
    check(Answer::json(&one), ModelErrorClass::Broken, "1 vectors for 2 texts").await;
    let uneven = json!({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]});
    check(Answer::json(&uneven), ModelErrorClass::Broken, "different lengths").await;
    check(Answer::json(&json!({})), ModelErrorClass::Broken, "no vectors").await;
    let busy = Answer::status(429, &json!({"error": {"message": "slow down"}}));
    check(busy, ModelErrorClass::RateLimit, "slow down").await;

    let server = Server::always(Answer::json(&one)).await;
    for provider in [Provider::Anthropic, Provider::Bedrock] {
        let mut connection = CASES[0].connection(&server);
        connection.provider = provider;
        let error = client().embed(&connection, &texts, LIMIT).await.unwrap_err();
        assert!(error.hint.contains("OpenAI"), "{error:?}");
    }
    let none = client().embed(&CASES[0].connection(&server), &[], LIMIT).await;
    assert_eq!(none, Ok(vec![]));
    assert!(server.seen().is_empty());
}
