//! `POST /v1/embeddings`: of a connection, or of the model within this program.

use super::inbound::Inbound;
use super::pass::pass;
use crate::auth::DialectCaller;
use crate::main_runtime::MainRuntime;
use crate::openai::{OpenAiError, may_ask};
use crate::tenant_app::TenantApp;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use steward_app::Caller;
use steward_core::ports::Passage;

/// Most texts of one request.
const TEXTS: usize = 2048;

#[derive(Deserialize)]
struct Request {
    input: Value,
    #[serde(default)]
    encoding_format: Option<String>,
    #[serde(default)]
    dimensions: Option<usize>,
}

pub(crate) async fn embeddings(
    DialectCaller(state, caller): DialectCaller,
    runtime: MainRuntime,
    inbound: Inbound,
) -> Result<Response, OpenAiError> {
    if let Some(name) = inbound.connection() {
        return pass(&state, &caller, name, &inbound, Passage::Embeddings).await;
    }
    may_ask(&caller)?;
    runtime.run(embed(state, caller, inbound)).await
}

async fn embed(state: TenantApp, caller: Caller, inbound: Inbound) -> Result<Response, OpenAiError> {
    let key = caller.principal.key.as_ref().map(|key| key.id);
    let embedder = state.embedder();
    if inbound.asked.model != embedder.model() {
        let text = format!(
            "there is no embedding model `{}`; there is `{}`, and connections as `connection/<name>`",
            inbound.asked.model,
            embedder.model()
        );
        return Err(OpenAiError::unknown(text, "model"));
    }
    let (_, request) = inbound.read(Inbound::parsed::<Request>).await?;
    let base64 = match request.encoding_format.as_deref() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(other) => {
            let text = format!("`{other}` is no encoding; choose `float` or `base64`");
            return Err(OpenAiError::invalid(text, "encoding_format"));
        }
    };
    if request.dimensions.is_some_and(|wanted| wanted != embedder.dimension()) {
        let text = format!("its vectors have {} numbers; leave `dimensions` out", embedder.dimension());
        return Err(OpenAiError::invalid(text, "dimensions"));
    }
    let texts = texts(request.input)?;
    let _turn = state.wait_to_embed(&caller).await.map_err(|error| OpenAiError::not_now(&error))?;
    let vectors = embedder.embed(&texts).await.map_err(|error| OpenAiError {
        status: StatusCode::SERVICE_UNAVAILABLE,
        ..OpenAiError::failed(error.to_string())
    })?;
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": encoded(vector, base64)}))
        .collect();
    // Nobody pays for them, so their length tells enough: four characters are about a token.
    let tokens: usize = texts.iter().map(|text| text.chars().count().div_ceil(4)).sum();
    if let Some(key) = key {
        state.usage_writer.limiter().took(key, tokens as u64, state.now());
    }
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    let answer = json!({"object": "list", "model": embedder.model(), "data": data, "usage": usage});
    Ok(Json(answer).into_response())
}

fn texts(input: Value) -> Result<Vec<String>, OpenAiError> {
    let invalid = |text: &str| Err(OpenAiError::invalid(text, "input"));
    let items = match input {
        Value::String(text) => vec![Value::String(text)],
        Value::Array(items) => items,
        _ => return invalid("`input` must be a text or a list of texts"),
    };
    if items.is_empty() || items.len() > TEXTS {
        return invalid("`input` must hold 1 to 2048 texts");
    }
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Value::String(text) if text.is_empty() => return invalid("a text of `input` is empty"),
            Value::String(text) => texts.push(text),
            Value::Number(_) | Value::Array(_) => {
                return invalid("`input` holds token numbers; this model takes texts only");
            }
            _ => return invalid("`input` must be a text or a list of texts"),
        }
    }
    Ok(texts)
}

fn encoded(vector: &[f32], base64: bool) -> Value {
    if !base64 {
        return json!(vector);
    }
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    Value::String(STANDARD.encode(bytes))
}
