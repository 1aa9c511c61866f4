//! A gateway, a till and connections by script.

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Price, Provider};
use steward_core::passthrough_request::PassthroughRequest;
use steward_core::ports::{
    BudgetScope, ConnectionTest, ConnectionsError, Gateway, KeptResponse, KnownConnection, ManagedConnections,
    NoAnswer, Passage, Passed, Period, ReserveError, Reserved, SpendLimit, SpendLimits, SpendState, Spender,
    SpentRecord, StoreResult, TypedKey,
};
use steward_core::routing::{Attempt, Routing};
use steward_core::{BudgetId, ConnectionId, ReservationId, TenantId, Timestamp};
use uuid::Uuid;

pub(super) type Pieces = Vec<Result<&'static str, ModelErrorClass>>;

/// A gateway that answers as it is told, and a till that keeps what is settled.
#[derive(Default)]
pub(in crate::testing) struct Fake {
    pub status: u16,
    pub kind: &'static str,
    pub pieces: Pieces,
    /// Nothing more comes after the pieces, but no end either.
    pub hangs: bool,
    /// Nothing comes at all.
    pub mute: bool,
    pub full: bool,
    /// Connections whose budget has no room.
    pub closed: Vec<ConnectionId>,
    pub asked: Mutex<Vec<(Vec<ConnectionId>, Passage, Bytes)>>,
    pub reserved: Mutex<Vec<(Spender, u64, u64)>>,
    pub settled: Mutex<Vec<SpentRecord>>,
}

pub(super) fn id(number: u128) -> ConnectionId {
    ConnectionId(Uuid::from_u128(number))
}

fn connection(number: u128, name: &str) -> Connection {
    let mut provider = json!({"id": id(number), "name": name, "provider": "open_ai", "base_url": "http://127.0.0.1:9/v1", "model": format!("model-{name}")});
    // One that is outside, for all that confidential data knows.
    provider["in_house"] = json!(name != "two");
    serde_json::from_value(provider).unwrap()
}

fn failure(class: ModelErrorClass) -> ModelError {
    ModelError {
        class,
        message: "it failed".to_owned(),
        hint: "mend it".to_owned(),
        detail: None,
        retry_after_ms: Some(1500),
        status: None,
    }
}

#[async_trait]
impl Gateway for Fake {
    async fn pass(
        &self,
        targets: &[Connection],
        _: &Routing,
        passage: Passage,
        (body, _): (Bytes, &PassthroughRequest),
        _: u64,
    ) -> Result<Passed, NoAnswer> {
        self.asked.lock().unwrap().push((targets.iter().map(|one| one.id).collect(), passage, body));
        if self.mute {
            std::future::pending::<()>().await;
        }
        let attempt = |class| Attempt { connection: targets[0].id, class, message: String::new(), ms: 1 };
        if let [Err(class)] = self.pieces[..] {
            return Err(NoAnswer { error: failure(class), attempts: vec![attempt(Some(class))] });
        }
        let pieces: Vec<_> = self
            .pieces
            .iter()
            .map(|piece| piece.map(|text| Bytes::from_static(text.as_bytes())).map_err(failure))
            .collect();
        let pieces = futures::stream::iter(pieces);
        Ok(Passed {
            connection: connection(1, "one"),
            attempts: vec![attempt(None)],
            status: self.status,
            headers: vec![
                ("content-type".to_owned(), self.kind.to_owned()),
                ("x-request-id".to_owned(), "r-1".to_owned()),
            ],
            body: if self.hangs { pieces.chain(futures::stream::pending()).boxed() } else { pieces.boxed() },
        })
    }
    async fn kept_response(&self, _: &Connection, _: &KeptResponse, _: u64) -> Result<Passed, ModelError> {
        unreachable!("nothing that is kept is asked for")
    }

    async fn embed(&self, _: &Connection, _: &[String], _: u64) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(failure(ModelErrorClass::Connect))
    }
    fn price(&self, _: &Connection) -> Option<Price> {
        Some(Price { input: 1_000_000, cached: 0, output: 2_000_000 })
    }
}

#[async_trait]
impl SpendLimits for Fake {
    async fn reserve(
        &self,
        _: TenantId,
        _: ReservationId,
        spender: Spender,
        _: &[ConnectionId],
        tokens: u64,
        cost_micros: u64,
        now: Timestamp,
        _: Timestamp,
    ) -> Result<Reserved, ReserveError> {
        self.reserved.lock().unwrap().push((spender, tokens, cost_micros));
        if !self.full {
            return Ok(Reserved { held: true, full: self.closed.clone() });
        }
        let state = SpendState {
            limit: SpendLimit {
                id: BudgetId(Uuid::from_u128(1)),
                scope: BudgetScope::Installation,
                period: Period::Day,
                tokens: Some(5),
                cost_micros: None,
            },
            since: now,
            tokens: 5,
            cost_micros: 0,
            reserved_tokens: 0,
            reserved_cost_micros: 0,
        };
        let resets = now.plus(Duration::from_mins(1));
        Err(ReserveError::Exceeded(Box::new(state), Some(resets)))
    }
    async fn settle(&self, _: TenantId, _: Option<ReservationId>, spent: &SpentRecord) -> StoreResult<()> {
        self.settled.lock().unwrap().push(spent.clone());
        Ok(())
    }
    async fn settle_all(&self, _: TenantId, _: &[ReservationId], spent: &[SpentRecord]) -> StoreResult<()> {
        self.settled.lock().unwrap().extend_from_slice(spent);
        Ok(())
    }
}

#[async_trait]
impl ManagedConnections for Fake {
    async fn list(&self) -> Vec<KnownConnection> {
        let mut native = connection(3, "claude");
        native.provider = Provider::Anthropic;
        [connection(1, "one"), connection(2, "two"), native]
            .map(|connection| KnownConnection { connection, from: "saved".to_owned(), default: false })
            .to_vec()
    }
    async fn save(&self, _: Connection, _: TypedKey) -> Result<(), ConnectionsError> {
        Ok(())
    }
    async fn remove(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Ok(())
    }
    async fn set_default(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Ok(())
    }
    async fn test(&self, _: ConnectionId) -> Result<ConnectionTest, ModelError> {
        Err(failure(ModelErrorClass::Connect))
    }
}
