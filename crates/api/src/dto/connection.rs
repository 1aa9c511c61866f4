//! Connections: model endpoints.

use super::auth::{Auth, AuthInput};
use super::exam::ExamBrief;
use super::names::{Constrained, Provider, Strategy, Wire};
use serde::{Deserialize, Serialize};
use steward_core::ports::TypedKey;
use steward_core::{ConnectionId, model, ports};
use utoipa::ToSchema;
use uuid::Uuid;

/// What a model can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a model, by name")]
pub(crate) struct Capabilities {
    /// Best way to have it call tools.
    pub strategy: Strategy,
    /// Context window, tokens.
    #[schema(minimum = 256, maximum = 100_000_000)]
    pub window: u32,
    /// Whether output can be constrained by a JSON Schema.
    pub json_schema: bool,
    /// Whether it answers `/v1/score`.
    pub scoring: bool,
    /// Whether it can plan and choose tools by itself.
    pub plans: bool,
    /// Whether it can sum up what tools found.
    pub summarises: bool,
    /// How many tools it can choose among.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_tools: usize,
    /// How its output is constrained; null: the provider's usual way, where `json_schema`.
    pub constrained: Option<Constrained>,
    /// Whether it makes several calls in one reply.
    pub parallel_calls: bool,
    /// Whether it follows a system message.
    pub system_role: bool,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Context setting to send to Ollama, tokens.
    #[schema(minimum = 256, maximum = 100_000_000)]
    pub num_ctx: Option<u32>,
    /// Longest prompt that is worth sending, tokens; null: as the window allows.
    #[schema(minimum = 256, maximum = 100_000_000)]
    pub prompt_tokens: Option<u32>,
    /// Whether replies begin inside of reasoning.
    pub thinks_first: bool,
    /// Whether it calls tools so well that nothing is guessed, corrected or planned in its place.
    pub trusted: bool,
}

/// What tokens cost, in millionths of a US dollar for a million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Price {
    /// Of the prompt.
    pub input: u64,
    /// Of the prompt, where the provider had it cached.
    pub cached: u64,
    /// Of the reply.
    pub output: u64,
}

impl Default for Capabilities {
    fn default() -> Self {
        model::Capabilities::default().into()
    }
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Connection {
    /// Its id.
    pub id: Uuid,
    /// Its name, unique.
    pub name: String,
    /// What answers there.
    pub provider: Provider,
    /// Up to and with `/v1`; empty for the built-in model.
    pub base_url: String,
    /// Model name as the endpoint knows it.
    pub model: String,
    /// How it proves who it is.
    pub auth: Auth,
    /// What the model can do.
    pub capabilities: Capabilities,
    /// Fields of `capabilities` that a person set; no exam changes them.
    pub by_hand: Vec<String>,
    /// Which of the provider's interfaces is spoken; null: the provider's usual one.
    #[schema(required)]
    pub wire: Option<Wire>,
    /// Its price, where it is not the one of the price table.
    #[schema(required)]
    pub price: Option<Price>,
    /// Its share among equals; 0: only as a fallback.
    pub weight: u32,
    /// Its own price, or that of the price table, where one is known.
    #[schema(required)]
    pub known_price: Option<Price>,
    /// Its last exam.
    #[schema(required)]
    pub exam: Option<ExamBrief>,
    /// `saved`, or how it was found.
    pub from: String,
    /// Whether it is used where nothing else is said.
    pub default: bool,
    /// Whether it can be changed here.
    pub editable: bool,
}

/// A connection as it is configured.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConnectionInput {
    /// Its name, unique.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// What answers there.
    pub provider: Provider,
    /// Up to and with `/v1`.
    pub base_url: String,
    /// Model name as the endpoint knows it.
    pub model: String,
    /// How it proves who it is. A key that is left out stays, so far as the server stays the same.
    #[serde(default)]
    pub auth: AuthInput,
    /// What the model can do; sensible values if left out.
    #[serde(default)]
    pub capabilities: Option<Capabilities>,
    /// Which of the provider's interfaces is spoken; the usual one if left out.
    #[serde(default)]
    pub wire: Option<Wire>,
    /// Its price, where it is not the one of the price table.
    #[serde(default)]
    pub price: Option<Price>,
    /// Its share among equals; 0: only as a fallback.
    #[serde(default = "one")]
    #[schema(maximum = 1000)]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// What a connection answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ConnectionTest {
    /// Whether it answered.
    pub ok: bool,
    /// Milliseconds until it took the request.
    pub accepted_ms: u64,
    /// Until the first piece.
    pub first_ms: u64,
    /// Until the end.
    pub total_ms: u64,
    /// What it said.
    pub text: String,
    /// Name of the model as answered.
    pub model: String,
    /// What went wrong.
    #[schema(required)]
    pub error: Option<String>,
    /// What to do about it.
    #[schema(required)]
    pub hint: Option<String>,
}

impl From<model::Capabilities> for Capabilities {
    fn from(can: model::Capabilities) -> Self {
        Self {
            strategy: can.strategy.into(),
            window: can.window,
            json_schema: can.json_schema,
            scoring: can.scoring,
            plans: can.plans,
            summarises: can.summarises,
            max_tools: can.max_tools,
            constrained: can.constrained.map(Into::into),
            parallel_calls: can.parallel_calls,
            system_role: can.system_role,
            vision: can.vision,
            num_ctx: can.num_ctx,
            prompt_tokens: can.prompt_tokens,
            thinks_first: can.thinks_first,
            trusted: can.trusted,
        }
    }
}

impl From<Capabilities> for model::Capabilities {
    fn from(can: Capabilities) -> Self {
        Self {
            strategy: can.strategy.into(),
            window: can.window,
            json_schema: can.json_schema,
            scoring: can.scoring,
            plans: can.plans,
            summarises: can.summarises,
            max_tools: can.max_tools,
            constrained: can.constrained.map(Into::into),
            parallel_calls: can.parallel_calls,
            system_role: can.system_role,
            vision: can.vision,
            num_ctx: can.num_ctx,
            prompt_tokens: can.prompt_tokens,
            thinks_first: can.thinks_first,
            trusted: can.trusted,
        }
    }
}

impl From<model::Price> for Price {
    fn from(price: model::Price) -> Self {
        let model::Price { input, cached, output } = price;
        Self { input, cached, output }
    }
}

impl From<Price> for model::Price {
    fn from(price: Price) -> Self {
        let Price { input, cached, output } = price;
        Self { input, cached, output }
    }
}

impl From<ports::KnownConnection> for Connection {
    fn from(known: ports::KnownConnection) -> Self {
        let editable = known.from == "saved";
        let connection = known.connection;
        Self {
            id: connection.id.0,
            name: connection.name,
            provider: connection.provider.into(),
            base_url: connection.base_url,
            model: connection.model,
            auth: connection.auth.into(),
            capabilities: connection.capabilities.into(),
            by_hand: connection.by_hand,
            wire: connection.wire.map(Into::into),
            price: connection.price.map(Into::into),
            weight: connection.weight,
            known_price: None,
            exam: None,
            from: known.from,
            default: known.default,
            editable,
        }
    }
}

impl ConnectionInput {
    /// The connection of this id, and its key if one was typed; capabilities that were left out are those it
    /// had before.
    pub fn with_id(self, id: ConnectionId, before: Option<model::Capabilities>) -> (model::Connection, TypedKey) {
        let (auth, key) = self.auth.parted();
        let connection = model::Connection {
            id,
            name: self.name.trim().to_owned(),
            provider: self.provider.into(),
            base_url: self.base_url.trim().trim_end_matches('/').to_owned(),
            model: self.model.trim().to_owned(),
            auth,
            capabilities: self.capabilities.map(Into::into).or(before).unwrap_or_default(),
            wire: self.wire.map(Into::into),
            by_hand: Vec::new(),
            price: self.price.map(Into::into),
            weight: self.weight,
        };
        (connection, key)
    }
}

impl From<Result<ports::ConnectionTest, model::ModelError>> for ConnectionTest {
    fn from(found: Result<ports::ConnectionTest, model::ModelError>) -> Self {
        match found {
            Ok(test) => Self {
                ok: true,
                accepted_ms: test.accepted_ms,
                first_ms: test.first_ms,
                total_ms: test.total_ms,
                text: test.text,
                model: test.model,
                error: None,
                hint: None,
            },
            Err(error) => Self {
                ok: false,
                accepted_ms: 0,
                first_ms: 0,
                total_ms: 0,
                text: String::new(),
                model: String::new(),
                error: Some(match error.detail {
                    Some(detail) => format!("{}: {detail}", error.message),
                    None => error.message,
                }),
                hint: Some(error.hint),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Capabilities, Connection, ConnectionInput};
    use serde_json::json;
    use steward_core::ports::KnownConnection;
    use steward_core::{ConnectionId, model};
    use uuid::Uuid;

    fn input() -> ConnectionInput {
        serde_json::from_value(json!({
            "name": "work", "provider": "compatible", "base_url": "http://127.0.0.1:9/v1/",
            "model": "m", "auth": {"kind": "bearer_env", "variable": "WORK_KEY"},
        }))
        .unwrap()
    }

    #[test]
    fn a_connection_survives_the_way_in_and_out() {
        let id = ConnectionId(Uuid::from_u128(3));
        let before = model::Capabilities::tiny(512);
        let (kept, _) = input().with_id(id, Some(before.clone()));
        assert_eq!(kept.capabilities, before);
        let (core, _) = input().with_id(id, None);
        assert_eq!(core.base_url, "http://127.0.0.1:9/v1");
        let mut expect = json!(core);
        // The API names every field; the core's rows leave out what is not set.
        for field in ["wire", "price"] {
            expect[field] = json!(null);
        }
        expect["weight"] = json!(1);
        expect["by_hand"] = json!([]);
        // What others know of it is added by the handler.
        for field in ["known_price", "exam"] {
            expect[field] = json!(null);
        }
        for field in ["constrained", "num_ctx", "prompt_tokens"] {
            expect["capabilities"][field] = json!(null);
        }
        expect["from"] = json!("saved");
        expect["default"] = json!(true);
        expect["editable"] = json!(true);
        let known = KnownConnection { connection: core, from: "saved".to_owned(), default: true };
        assert_eq!(json!(Connection::from(known)), expect);
    }

    #[test]
    fn capabilities_left_out_are_the_cores_defaults() {
        let can: Capabilities = serde_json::from_value(json!({"window": 4096})).unwrap();
        let core = model::Capabilities { window: 4096, ..model::Capabilities::default() };
        assert_eq!(model::Capabilities::from(can), core);
    }
}
