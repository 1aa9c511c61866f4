//! Errors in words: what happened, with the connection's name, and what a person can do.

use secrecy::SecretString;
use steward_core::model::{Auth, Connection, ModelError, ModelErrorClass as Class, Provider, Usage, Wire};

use super::classify::Refusal;
use super::secrets::{scrub, scrubber};

/// The connection that an error is about, and the secrets that must not be in it.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub connection: Connection,
    pub secrets: Vec<SecretString>,
}

impl Origin {
    /// Before anything secret is known.
    pub fn of(connection: &Connection) -> Self {
        Self { connection: connection.clone(), secrets: Vec::new() }
    }

    fn error(&self, class: Class, what: &str, hint: String) -> ModelError {
        ModelError {
            class,
            message: format!("{}: {}", self.name(), scrub(what, &self.secrets)),
            hint,
            detail: None,
            retry_after_ms: None,
        }
    }

    /// The connection, its model and its address, without a password that the address may hold.
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

    /// The same error with the endpoint's raw words.
    pub fn with_detail(&self, mut error: ModelError, raw: &str) -> ModelError {
        if !raw.trim().is_empty() {
            error.detail = Some(scrub(raw.trim(), &self.secrets));
        }
        error
    }

    /// The key is not set.
    pub fn key_missing(&self, variable: &str) -> ModelError {
        self.error(
            Class::Auth,
            &format!("its key is not there: the environment variable {variable} is not set"),
            format!(
                "type the key into the connection (`steward connections key NAME`, or the studio), where it acts at once; or set {variable} for the server and start that again"
            ),
        )
    }

    /// The variable is not one for keys.
    pub fn key_refused(&self, why: &str) -> ModelError {
        let hint = "type the key into the connection: it then lies in the vault";
        self.error(Class::Auth, why, hint.to_owned())
    }

    /// The vault has no key for it.
    pub fn key_not_kept(&self) -> ModelError {
        self.error(Class::Auth, "no key was typed in for it", self.key_hint())
    }

    /// The vault does not give it.
    pub fn key_sealed(&self, why: &str) -> ModelError {
        self.error(
            Class::Auth,
            &format!("its key can't be opened: {why}"),
            "see `steward doctor`, or type the key in again".to_owned(),
        )
    }

    /// The request could not be signed.
    pub fn not_signed(&self, why: &str) -> ModelError {
        self.error(Class::Auth, &format!("the request could not be signed: {why}"), self.key_hint())
    }

    /// `raw` without the key, where an endpoint repeats it.
    pub fn scrubbed(&self, raw: bytes::Bytes) -> bytes::Bytes {
        match scrubber(&self.secrets).scrub_bytes(&raw) {
            std::borrow::Cow::Borrowed(_) => raw,
            std::borrow::Cow::Owned(clean) => clean.into(),
        }
    }

    /// The key can't stand in a header.
    pub fn key_unusable(&self) -> ModelError {
        self.error(Class::Auth, "its key holds characters that no key has", self.key_hint())
    }

    /// The header that carries the key has no name that a header can have.
    pub fn bad_header(&self, name: &str) -> ModelError {
        self.error(
            Class::Auth,
            &format!("`{name}` is no name of a header"),
            "give the connection a header name such as X-Api-Key".to_owned(),
        )
    }

    /// The address is none.
    pub fn bad_url(&self, why: &str) -> ModelError {
        self.error(
            Class::BadRequest,
            &format!("its base URL is not usable: {why}"),
            "give the connection a URL such as http://127.0.0.1:11434/v1".to_owned(),
        )
    }

    /// The HTTP client could not be made.
    pub fn no_client(&self, why: &str) -> ModelError {
        self.error(
            Class::Connect,
            &format!("no HTTP client: {why}"),
            "install the system's CA certificates (package ca-certificates)".to_owned(),
        )
    }

    /// The local model can't run.
    pub fn local(&self, why: &str) -> ModelError {
        self.error(Class::Connect, why, "see `steward doctor`, or choose another connection".to_owned())
    }

    /// The endpoint's refusal, by status or in the stream. `models` are names that it has.
    pub fn refused(&self, refusal: &Refusal, status: Option<u16>, models: &[String]) -> ModelError {
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
        let status = status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
        let words = refusal.words.lines().next().unwrap_or_default();
        let words: String = words.chars().take(300).collect();
        let what = match words.as_str() {
            "" => format!("{what}{status}"),
            words => format!("{what}{status}: {words}"),
        };
        self.error(refusal.class, &what, self.refusal_hint(refusal, models))
    }

    fn refusal_hint(&self, refusal: &Refusal, models: &[String]) -> String {
        match refusal.class {
            Class::Auth if refusal.no_credit => "top up the account, or choose another connection".to_owned(),
            Class::Auth => self.key_hint(),
            Class::UnknownModel => self.model_hint(models),
            Class::ContextLength => "shorten the input, or choose a model with a larger window".to_owned(),
            Class::RateLimit => "wait a moment and ask again, or choose another connection".to_owned(),
            Class::Timeout | Class::Server => {
                "ask again in a moment; if it stays, see the endpoint's own log or status page".to_owned()
            }
            _ => self.url_hint(),
        }
    }

    fn url_hint(&self) -> String {
        let url = self.url();
        match super::client::wire_of(&self.connection) {
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

    /// No connection.
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

    /// Nothing came in time. `what` was awaited, `setting` limits it.
    pub fn timeout(&self, what: &str, after_ms: u128, setting: &str) -> ModelError {
        self.error(
            Class::Timeout,
            &format!("{what} within {}", seconds(after_ms)),
            format!("see whether the server is busy or stuck; for slow models raise the timeout setting `{setting}`"),
        )
    }

    /// The answer broke off. `usage` is what was told of its cost until then.
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

    /// An answer, but not one of this dialect.
    pub fn not_an_answer(&self, what: &str) -> ModelError {
        self.error(Class::Broken, &format!("the endpoint answered with {what} instead of a reply"), self.url_hint())
    }

    /// A complete answer with nothing in it.
    pub fn empty(&self, finish: &str, usage: Usage, max_tokens: u32) -> ModelError {
        let hint = match finish {
            "length" => format!("raise `max_tokens`, now {max_tokens}"),
            "content_filter" => "the provider's filter kept the answer back: ask in other words".to_owned(),
            _ => "ask again, or choose another model".to_owned(),
        };
        let what = format!("the answer is empty (finish reason `{finish}`, {} reply tokens)", usage.completion_tokens);
        self.error(Class::Empty, &what, hint)
    }
}

fn seconds(ms: u128) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        _ => format!("{} s", (ms + 500) / 1000),
    }
}
