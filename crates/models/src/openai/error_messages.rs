//! The texts of errors: what happened, with the connection's name, and what a person can do.

use super::auth::{NoCredential, scrub, scrubber};
use super::classify::{self, Refusal};
use secrecy::SecretString;
use serde_json::Value;
use steward_core::model::{Auth, Connection, ModelError, ModelErrorClass as Class, Provider, Usage, Wire};

/// The connection that an error is about, and the secrets that must not appear in it.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub connection: Connection,
    pub secrets: Vec<SecretString>,
}

impl Origin {
    /// Before any secret is read.
    pub fn of(connection: &Connection) -> Self {
        Self { connection: connection.clone(), secrets: Vec::new() }
    }

    fn error(&self, class: Class, what: &str, hint: String) -> ModelError {
        ModelError::new(class, format!("{}: {}", self.name(), scrub(what, &self.secrets)), hint)
    }

    /// The connection, its model and its address, without a password in the address.
    fn name(&self) -> String {
        let Connection { name, model, .. } = &self.connection;
        match self.connection.provider {
            Provider::Local => format!("connection `{name}` (local model)"),
            _ => format!("connection `{name}` ({model} at {})", self.url()),
        }
    }

    fn url(&self) -> String {
        match super::address::base(&self.connection) {
            Ok(mut url) => {
                let _no_password = url.set_password(None);
                let _no_user = url.set_username("");
                url.set_query(None);
                url.to_string()
            }
            Err(_) => self.connection.base_url.clone(),
        }
    }

    pub fn with_detail(&self, mut error: ModelError, raw: &str) -> ModelError {
        if !raw.trim().is_empty() {
            error.detail = Some(scrub(raw.trim(), &self.secrets));
        }
        error
    }

    pub fn no_credential(&self, why: NoCredential) -> ModelError {
        let (what, hint) = match why {
            NoCredential::Missing(variable) => (
                format!("its key is not there: the environment variable {variable} is not set"),
                format!(
                    "type the key into the connection (`steward connections key NAME`, or the studio), where it acts at once; or set {variable} for the server and start that again"
                ),
            ),
            NoCredential::Refused(why) => {
                (why, "type the key into the connection: it then lies in the vault".to_owned())
            }
            NoCredential::NotKept => ("no key was typed in for it".to_owned(), self.key_hint()),
            NoCredential::Sealed(why) => {
                (format!("its key can't be opened: {why}"), "see `steward doctor`, or type the key in again".to_owned())
            }
            NoCredential::Unusable => ("its key holds characters that no key has".to_owned(), self.key_hint()),
            NoCredential::BadHeader(name) => (
                format!("`{name}` is no name of a header"),
                "give the connection a header name such as X-Api-Key".to_owned(),
            ),
        };
        self.error(Class::Auth, &what, hint)
    }

    /// `what`: the part of the request that the interface has no word for.
    pub fn untranslatable(&self, what: &str) -> ModelError {
        let hint = "leave it out, or choose a connection that speaks the OpenAI dialect".to_owned();
        self.error(Class::BadRequest, &format!("{what} can't be translated for its interface"), hint)
    }

    pub fn not_signed(&self, why: &str) -> ModelError {
        self.error(Class::Auth, &format!("the request could not be signed: {why}"), self.key_hint())
    }

    /// `raw` without the key, if the endpoint repeats it.
    pub fn scrubbed(&self, raw: bytes::Bytes) -> bytes::Bytes {
        match scrubber(&self.secrets).scrub_bytes(&raw) {
            std::borrow::Cow::Borrowed(_) => raw,
            std::borrow::Cow::Owned(clean) => clean.into(),
        }
    }

    pub fn bad_url(&self, why: &str) -> ModelError {
        self.error(
            Class::BadRequest,
            &format!("its base URL is not usable: {why}"),
            "give the connection a URL such as http://127.0.0.1:11434/v1".to_owned(),
        )
    }

    pub fn no_client(&self, why: &str) -> ModelError {
        self.error(
            Class::Connect,
            &format!("no HTTP client: {why}"),
            "install the system's CA certificates (package ca-certificates)".to_owned(),
        )
    }

    pub fn local(&self, why: &str) -> ModelError {
        self.error(Class::Connect, why, "see `steward doctor`, or choose another connection".to_owned())
    }

    /// The error of an unsuccessful response. `models`: names at the endpoint; `wait`: from the headers, milliseconds.
    pub fn http_error(&self, status: u16, raw: &str, wait: Option<u64>, models: &[String]) -> ModelError {
        let refusal = classify::http(status, raw);
        let error = self.refused(&refusal, Some(status), models);
        let retry_after_ms = wait.or(refusal.retry_after_ms);
        ModelError { retry_after_ms, status: Some(status), ..self.with_detail(error, raw) }
    }

    /// For an error object in the place of an answer.
    pub fn in_band_error(&self, error: &Value) -> ModelError {
        self.with_detail(self.refused(&classify::in_band(error), None, &[]), &error.to_string())
    }

    /// `models`: names that the endpoint has.
    fn refused(&self, refusal: &Refusal, status: Option<u16>, models: &[String]) -> ModelError {
        let what = match refusal.class {
            Class::Auth if refusal.no_credit => "the account has no credit left",
            Class::Auth => "the key was refused",
            Class::UnknownModel => "the endpoint does not know this model",
            Class::ContextLength => "the prompt does not fit the model's context window",
            Class::RateLimit => "too many requests",
            Class::Timeout => "the endpoint itself ran out of time",
            Class::Server => "the endpoint failed",
            _ => "the endpoint refused the request",
        };
        let status_code = status;
        let status = status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
        let words = refusal.words.lines().next().unwrap_or_default();
        let words: String = words.chars().take(300).collect();
        let what = match words.as_str() {
            "" => format!("{what}{status}"),
            words => format!("{what}{status}: {words}"),
        };
        self.error(refusal.class, &what, self.refusal_hint(refusal, status_code, models))
    }

    fn refusal_hint(&self, refusal: &Refusal, status: Option<u16>, models: &[String]) -> String {
        match refusal.class {
            Class::Auth if refusal.no_credit => "top up the account, or choose another connection".to_owned(),
            Class::Auth => self.key_hint(),
            Class::UnknownModel => self.model_hint(models),
            Class::ContextLength => "shorten the input, or choose a model with a larger window".to_owned(),
            Class::RateLimit => "wait a moment and ask again, or choose another connection".to_owned(),
            Class::Timeout | Class::Server => {
                "ask again in a moment; if it stays, see the endpoint's own log or status page".to_owned()
            }
            // It is the right address: it has read the request and says what it does not take.
            _ if matches!(status, None | Some(400 | 413 | 422)) && !refusal.words.trim().is_empty() => {
                "change what it names of the request, or choose another model".to_owned()
            }
            _ => self.url_hint(),
        }
    }

    fn url_hint(&self) -> String {
        let url = self.url();
        match super::wire_of(&self.connection) {
            Wire::Native => format!(
                "check that {url} is the address of the connection's provider, and that its model takes such requests"
            ),
            _ => format!("check that the base URL {url} is that of an OpenAI-compatible API, which mostly ends in /v1"),
        }
    }

    fn key_hint(&self) -> String {
        let name = &self.connection.name;
        match (&self.connection.auth, self.connection.provider) {
            (Auth::None, Provider::Local) => "start Steward again".to_owned(),
            (Auth::None, _) => {
                format!("this endpoint wants a key: type it in with `steward connections key {name}`, or in the studio")
            }
            (Auth::AwsEnv { .. }, _) => {
                "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the server's environment, and the region"
                    .to_owned()
            }
            (auth, _) => match auth.variable() {
                Some(variable) => format!("check the key in the environment variable {variable}"),
                None => format!(
                    "type the right one in with `steward connections key {name}`, or in the studio; it acts at the next call"
                ),
            },
        }
    }

    fn model_hint(&self, models: &[String]) -> String {
        let pull = match self.connection.provider {
            Provider::Ollama => format!(", or run `ollama pull {}`", self.connection.model),
            _ => String::new(),
        };
        if models.is_empty() {
            return format!("give the connection a model that the endpoint has{pull}");
        }
        let shown = models.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match models.len() {
            0..=8 => String::new(),
            all => format!(" and {} more", all - 8),
        };
        format!("it has {shown}{more}: give the connection one of these{pull}")
    }

    pub fn unreachable(&self, why: &str) -> ModelError {
        let url = self.url();
        let hint = match self.connection.provider {
            Provider::Ollama => format!("is Ollama running at {url}? start it by `ollama serve`"),
            Provider::LlamaCpp => {
                format!("is the llama.cpp server running at {url}? start `llama-server`")
            }
            Provider::Local => "ask again; if it stays, see `steward doctor`".to_owned(),
            _ => {
                format!("is the server running at {url}? check the URL, the network and the proxy settings")
            }
        };
        self.error(Class::Connect, &format!("no connection: {why}"), hint)
    }

    /// `setting` is the one that limits the wait for `what`.
    pub fn timeout(&self, what: &str, after_ms: u128, setting: &str) -> ModelError {
        self.error(
            Class::Timeout,
            &format!("{what} within {}", seconds(after_ms)),
            format!("see whether the server is busy or stuck; for slow models raise the timeout setting `{setting}`"),
        )
    }

    /// `usage` is what the endpoint has reported so far.
    pub fn broken(&self, why: &str, usage: Usage) -> ModelError {
        let spent = match usage.prompt_tokens + usage.completion_tokens {
            0 => String::new(),
            _ => format!("; {} prompt and {} reply tokens were used", usage.prompt_tokens, usage.completion_tokens),
        };
        self.error(
            Class::Broken,
            &format!("the answer broke off: {why}{spent}"),
            "ask again; if it stays, see the server's log".to_owned(),
        )
    }

    /// An answer, but none of this dialect.
    pub fn not_an_answer(&self, what: &str) -> ModelError {
        self.error(Class::Broken, &format!("the endpoint answered with {what} instead of a reply"), self.url_hint())
    }

    pub fn empty(&self, finish: &str, usage: Usage, max_tokens: u32) -> ModelError {
        let hint = match finish {
            "length" if max_tokens == 0 => "shorten the request: the model has no room left for its answer".to_owned(),
            "length" => format!("raise `max_tokens`, now {max_tokens}"),
            "content_filter" => "the provider's filter kept the answer back: ask in other words".to_owned(),
            _ => "ask again, or choose another model".to_owned(),
        };
        let what = format!("the answer is empty (finish reason `{finish}`, {} reply tokens)", usage.completion_tokens);
        // The same request would be kept back again.
        let class = if finish == "content_filter" { Class::BadRequest } else { Class::Empty };
        self.error(class, &what, hint)
    }
}

fn seconds(ms: u128) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        _ => format!("{} s", (ms + 500) / 1000),
    }
}
