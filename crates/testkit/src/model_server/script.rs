use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a server does for each request; also the format of the script files of `scripted-model`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Names that `/v1/models` lists.
    pub models: Vec<String>,
    /// Whether any other model's name gets a 404.
    pub strict_models: bool,
    /// The required bearer key; another one gets a 401.
    pub api_key: Option<String>,
    /// Whether `stream_options` gets a 400, as with some older servers.
    pub refuse_stream_options: bool,
    /// Behaviours by the content of the whole body; they precede `rules`.
    pub by_body: Vec<BodyRule>,
    /// Behaviours by the content of the last message; the first match wins, before `replies`.
    pub rules: Vec<Rule>,
    /// Behaviours in order, one per request.
    pub replies: Vec<Behaviour>,
    /// After the last of `replies`; without it a further request is a violation.
    pub otherwise: Option<Behaviour>,
    /// Likelihoods for `/v1/score`.
    pub scores: BTreeMap<String, f32>,
    /// Vectors of `/v1/embeddings`; without them there is no such route.
    pub embeddings: Option<Embeddings>,
    /// Other routes with their JSON bodies: `"GET /api/tags"`.
    pub routes: BTreeMap<String, Value>,
}

/// Texts with the same words have near vectors.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Embeddings {
    /// Of each vector.
    pub numbers: usize,
    /// What happens before the first good answer, one per request.
    pub faults: Vec<Behaviour>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            models: vec!["scripted".to_owned()],
            strict_models: false,
            api_key: None,
            refuse_stream_options: false,
            by_body: Vec::new(),
            rules: Vec::new(),
            replies: Vec::new(),
            otherwise: None,
            scores: BTreeMap::new(),
            embeddings: None,
            routes: BTreeMap::new(),
        }
    }
}

impl Script {
    /// One behaviour per request.
    pub fn of(replies: impl IntoIterator<Item = Behaviour>) -> Self {
        Self { replies: replies.into_iter().collect(), ..Self::default() }
    }

    pub fn always(behaviour: Behaviour) -> Self {
        Self { otherwise: Some(behaviour), ..Self::default() }
    }

    #[must_use]
    pub fn when(mut self, contains: impl Into<String>, then: Behaviour) -> Self {
        self.rules.push(Rule { contains: contains.into(), role: None, times: None, then });
        self
    }

    /// Adds a rule by the whole body and the last message.
    #[must_use]
    pub fn when_body(mut self, body: impl Into<String>, contains: impl Into<String>, then: Behaviour) -> Self {
        self.by_body.push(BodyRule { body: body.into(), contains: contains.into(), then });
        self
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Part of the last message's text; empty fits all.
    pub contains: String,
    /// Required role of the last message.
    #[serde(default)]
    pub role: Option<String>,
    /// How often it applies; `None`: always.
    #[serde(default)]
    pub times: Option<u32>,
    pub then: Behaviour,
}

/// A behaviour for requests whose whole body, as JSON without blanks, holds a text, such as `"response_format"`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRule {
    pub body: String,
    /// Part of the last message's text; empty fits all.
    #[serde(default)]
    pub contains: String,
    pub then: Behaviour,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Behaviour {
    Reply(Reply),
    /// An answer without content.
    Empty,
    Status {
        status: u16,
        /// JSON, or a string for text.
        #[serde(default)]
        body: Value,
        /// The header `Retry-After`.
        #[serde(default)]
        retry_after: Option<String>,
    },
    /// Accepts the request and says nothing.
    HangBeforeHeaders,
    /// Sends the headers and says nothing more.
    HangAfterHeaders,
    /// Resets the connection before any answer.
    Reset,
    /// The first half of a reply, and then the connection ends.
    Cut {
        reply: Reply,
        /// Whether the body ends as if it were complete.
        #[serde(default)]
        clean: bool,
    },
    /// The first half of a reply, and then silence with the connection open.
    Stall {
        reply: Reply,
    },
    /// The first half of a reply, and then an event that is no JSON.
    InvalidJson {
        reply: Reply,
    },
    /// The first half of a reply, and then an error object in the stream.
    InBandError {
        reply: Reply,
        error: Value,
    },
    /// A body of another kind with status 200.
    Plain {
        content_type: String,
        body: String,
    },
    /// These bytes as the event stream.
    Raw {
        /// Including line ends.
        events: String,
    },
}

impl Behaviour {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Reply(Reply::text(text))
    }

    /// Tool names and arguments.
    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self::Reply(Reply::calls(calls))
    }

    fn status(status: u16, message: &str, code: &str) -> Self {
        let body = json!({"error": {"message": message, "type": code, "code": code}});
        Self::Status { status, body, retry_after: None }
    }

    /// 401.
    pub fn unauthorised() -> Self {
        Self::status(401, "Incorrect API key provided.", "invalid_api_key")
    }

    /// 404 for the model's name.
    pub fn unknown_model(name: &str) -> Self {
        let message = format!("The model `{name}` does not exist or you do not have access to it.");
        Self::status(404, &message, "model_not_found")
    }

    /// 400 for a prompt that is too long.
    pub fn context_length() -> Self {
        Self::status(
            400,
            "This model's maximum context length is 4096 tokens, your messages have 9000.",
            "context_length_exceeded",
        )
    }

    /// 429, with the header if asked for.
    pub fn rate_limit(retry_after: Option<&str>) -> Self {
        let Self::Status { status, body, .. } = Self::status(429, "Rate limit reached.", "rate_limit_exceeded") else {
            return Self::Empty;
        };
        Self::Status { status, body, retry_after: retry_after.map(str::to_owned) }
    }

    /// 500 or another error of the server's.
    pub fn server_error(status: u16) -> Self {
        Self::status(status, "The server had an error.", "server_error")
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    pub text: String,
    pub reasoning: String,
    /// The reasoning field's name; `reasoning_content` if empty.
    pub reasoning_field: String,
    /// Tool calls, in parallel if several.
    pub calls: Vec<ScriptedCall>,
    /// Finish reason; by default `stop` or `tool_calls`.
    pub finish: Option<String>,
    pub usage: Option<ScriptedUsage>,
    /// Characters per piece; 0: one piece per field.
    pub piece: usize,
    /// Delay before the first piece, milliseconds.
    pub first_ms: u64,
    /// Delay before each further piece, milliseconds.
    pub piece_ms: u64,
}

impl Reply {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), usage: Some(ScriptedUsage::default()), ..Self::default() }
    }

    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        let calls = calls.into_iter().map(|(name, arguments)| ScriptedCall { id: None, name: name.into(), arguments });
        Self { calls: calls.collect(), ..Self::text("") }
    }

    /// The same in pieces of `chars` characters, `ms` milliseconds apart.
    #[must_use]
    pub fn pieces(mut self, chars: usize, ms: u64) -> Self {
        self.piece = chars;
        self.piece_ms = ms;
        self
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// Generated if absent.
    #[serde(default)]
    pub id: Option<String>,
    pub name: String,
    /// A string is sent as it is, so that it may be broken.
    pub arguments: Value,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedUsage {
    /// Including cached ones.
    pub prompt: u64,
    pub cached: u64,
    pub completion: u64,
}

impl Default for ScriptedUsage {
    fn default() -> Self {
        Self { prompt: 100, cached: 40, completion: 10 }
    }
}
