use super::auth::AuthInput;
use super::exam::ExamBrief;
use serde::{Deserialize, Serialize};
use steward_core::ConnectionId;
use steward_core::model::{self, Auth, Capabilities, Price, Provider, Strategy, Wire};
use steward_core::ports::{self, ExamState, TypedKey};
use utoipa::ToSchema;

/// A connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
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
    /// Whether what is sent there stays in the house, as far as policies over data ask.
    pub in_house: bool,
    /// What an administrator said of that; null: its address tells.
    #[schema(required)]
    pub in_house_by_hand: Option<bool>,
    /// Its own price, or that of the price table, where one is known.
    #[schema(required)]
    pub known_price: Option<Price>,
    /// Its last exam.
    #[schema(required)]
    pub exam: Option<ExamBrief>,
    /// How far its exam is.
    #[schema(required)]
    pub exam_state: Option<ExamState>,
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
pub struct ConnectionInput {
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
    pub capabilities: Option<Capabilities>,
    /// How the model calls tools, where no more than that is to be said of what it can do.
    pub strategy: Option<Strategy>,
    /// Which of the provider's interfaces is spoken; the usual one if left out.
    pub wire: Option<Wire>,
    /// Its price, where it is not the one of the price table.
    pub price: Option<Price>,
    /// Its share among equals; 0: only as a fallback.
    #[serde(default = "one")]
    #[schema(maximum = 1000)]
    pub weight: u32,
    /// Whether what is sent there stays in the house; its address tells if left out. For administrators to say.
    pub in_house: Option<bool>,
}

fn one() -> u32 {
    1
}

/// What a connection answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionTest {
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

impl From<ports::KnownConnection> for Connection {
    fn from(known: ports::KnownConnection) -> Self {
        let editable = known.from == "saved";
        let connection = known.connection;
        Self {
            in_house: connection.is_in_house(),
            in_house_by_hand: connection.in_house,
            id: connection.id,
            name: connection.name,
            provider: connection.provider,
            base_url: connection.base_url,
            model: connection.model,
            auth: connection.auth,
            capabilities: connection.capabilities,
            by_hand: connection.by_hand,
            wire: connection.wire,
            price: connection.price,
            weight: connection.weight,
            known_price: None,
            exam: None,
            exam_state: None,
            from: known.from,
            default: known.default,
            editable,
        }
    }
}

impl ConnectionInput {
    /// With the key, if one was typed; capabilities that were left out are those it had before.
    pub fn with_id(self, id: ConnectionId, before: Option<Capabilities>) -> (model::Connection, TypedKey) {
        let (auth, key) = self.auth.parted();
        let mut capabilities = self.capabilities.or(before).unwrap_or_default();
        let mut by_hand = Vec::new();
        if let Some(strategy) = self.strategy {
            capabilities.strategy = strategy;
            by_hand.push("strategy".to_owned());
        }
        let connection = model::Connection {
            id,
            name: self.name.trim().to_owned(),
            provider: self.provider,
            base_url: self.base_url.trim().trim_end_matches('/').to_owned(),
            model: self.model.trim().to_owned(),
            auth,
            capabilities,
            wire: self.wire,
            by_hand,
            price: self.price,
            weight: self.weight,
            in_house: self.in_house,
        };
        (connection, key)
    }
}

impl From<Result<ports::ConnectionTest, model::ModelError>> for ConnectionTest {
    fn from(found: Result<ports::ConnectionTest, model::ModelError>) -> Self {
        match found {
            Ok(ports::ConnectionTest { accepted_ms, first_ms, total_ms, text, model }) => {
                Self { ok: true, accepted_ms, first_ms, total_ms, text, model, error: None, hint: None }
            }
            Err(error) => Self {
                error: Some(match error.detail {
                    Some(detail) => format!("{}: {detail}", error.message),
                    None => error.message,
                }),
                hint: Some(error.hint),
                ..Self::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Connection, ConnectionInput};
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
        let react = ConnectionInput { strategy: Some(model::Strategy::React), ..input() };
        let (chosen, _) = react.with_id(id, Some(before.clone()));
        assert_eq!(chosen.capabilities, model::Capabilities { strategy: model::Strategy::React, ..before });
        assert_eq!(chosen.by_hand, ["strategy"]);
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
        for field in ["known_price", "exam", "exam_state"] {
            expect[field] = json!(null);
        }
        expect["from"] = json!("saved");
        expect["default"] = json!(true);
        expect["editable"] = json!(true);
        expect["in_house"] = json!(true);
        expect["in_house_by_hand"] = json!(null);
        let known = KnownConnection { connection: core, from: "saved".to_owned(), default: true };
        assert_eq!(json!(Connection::from(known)), expect);
    }

    #[test]
    fn capabilities_left_out_are_as_usual() {
        let can: model::Capabilities = serde_json::from_value(json!({"window": 4096})).unwrap();
        assert_eq!(can, model::Capabilities { window: 4096, ..model::Capabilities::default() });
    }
}
