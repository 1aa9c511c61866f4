//! A request under `/v1` before it is known who answers it.

use crate::headers::content_type;
use crate::large_input::read_apart;
use crate::model_name::name_of;
use crate::openai::OpenAiError;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use serde::de::DeserializeOwned;
use steward_app::AppError;
use steward_core::passthrough_request::{PassthroughError, PassthroughRequest};

/// Headers of a program's request that the endpoint gets too. Those that choose whose account pays, or say what program asks,
/// are not among them.
const PASSED_ON: [&str; 4] = ["anthropic-beta", "idempotency-key", "openai-beta", "x-client-request-id"];

fn passed_on(headers: &HeaderMap) -> Vec<(String, String)> {
    let pairs = PASSED_ON.iter().flat_map(|name| headers.get_all(*name).iter().map(move |value| (*name, value)));
    pairs.filter_map(|(name, value)| Some((name.to_owned(), value.to_str().ok()?.to_owned()))).collect()
}

#[derive(Clone)]
pub(crate) struct Inbound {
    pub headers: HeaderMap,
    pub body: Bytes,
    pub asked: PassthroughRequest,
}

impl Inbound {
    /// The name of the connection that is asked for, if it is one.
    pub fn connection(&self) -> Option<&str> {
        name_of(&self.asked.model)
    }

    /// Reads the body on a thread that serves nobody.
    pub async fn read<T: Send + 'static>(
        self,
        read: impl FnOnce(&Self) -> Result<T, OpenAiError> + Send + 'static,
    ) -> Result<(Self, T), OpenAiError> {
        read_apart(self.body.len(), move || {
            let found = read(&self)?;
            Ok((self, found))
        })
        .await
    }

    pub fn parsed<T: DeserializeOwned>(&self) -> Result<T, OpenAiError> {
        let mut body = serde_json::Deserializer::from_slice(&self.body);
        serde_path_to_error::deserialize(&mut body).map_err(|error| {
            let path = error.path().to_string();
            let detail = AppError::of_body(&path, &error.into_inner().to_string()).detail;
            let field = detail.field.unwrap_or_default();
            OpenAiError::invalid(format!("the body is not understood: {}", detail.title), field)
        })
    }
}

impl<S: Send + Sync> FromRequest<S> for Inbound {
    type Rejection = OpenAiError;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, OpenAiError> {
        // Reading the body needs none of them.
        let headers = std::mem::take(request.headers_mut());
        if !content_type(&headers).eq_ignore_ascii_case("application/json") {
            return Err(OpenAiError::invalid(
                "the body is not marked as JSON; send it with `Content-Type: application/json`",
                "body",
            ));
        }
        let body = Bytes::from_request(request, state).await.map_err(|error| OpenAiError {
            status: error.status(),
            ..OpenAiError::invalid(
                format!("the body could not be read: {}; 32 MiB are the most", error.body_text()),
                "body",
            )
        })?;
        let read = body.clone();
        let asked = read_apart(body.len(), move || PassthroughRequest::of(&read)).await;
        let mut asked = asked.map_err(|error| {
            let param = match error {
                PassthroughError::NotAnObject(_) => "body",
                PassthroughError::NoModel | PassthroughError::TwoModels => "model",
            };
            OpenAiError::invalid(
                format!("{error}; GET /v1/models lists the models, connections as `connection/<name>`"),
                param,
            )
        })?;
        asked.headers = passed_on(&headers);
        Ok(Self { headers, body, asked })
    }
}
