use super::Client;
use anyhow::Context;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::Timestamp;
use steward_core::ports::{SpendLimit, SpendState, UsageRow, VirtualKey};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Labelled<T> {
    #[serde(flatten)]
    pub value: T,
    pub label: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct NewKey {
    pub name: String,
    /// By name; empty: all.
    pub connections: Vec<String>,
    /// By name; empty: all; `None`: none.
    pub agents: Option<Vec<String>>,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
    pub expires_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Report {
    items: Vec<Labelled<UsageRow>>,
}

#[derive(Deserialize)]
struct Made {
    #[serde(flatten)]
    key: VirtualKey,
    secret: Option<String>,
}

impl Client {
    pub async fn usage(&self, by: &str, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<Labelled<UsageRow>>> {
        let report: Report = self.get(&format!("/api/usage?by={by}&from={}&to={}", from.0, to.0)).await?;
        Ok(report.items)
    }

    pub async fn budgets(&self) -> anyhow::Result<Vec<Labelled<SpendState>>> {
        self.all("/api/budgets").await
    }

    /// Sets a budget; one for the same calls and period is replaced, whatever the id in `limit`.
    pub async fn set_budget(&self, limit: &SpendLimit) -> anyhow::Result<()> {
        let all = self.budgets().await?;
        let same = all
            .iter()
            .map(|one| &one.value.limit)
            .find(|known| known.scope == limit.scope && known.period == limit.period);
        let (tokens, cost) = (limit.tokens, limit.cost_micros);
        let (method, path, body) = if let Some(known) = same {
            let body = json!({"tokens": tokens, "cost_micros": cost});
            (Method::PUT, format!("/api/budgets/{}", known.id), body)
        } else {
            let body = json!({"scope": limit.scope, "period": limit.period, "tokens": tokens, "cost_micros": cost});
            (Method::POST, "/api/budgets".to_owned(), body)
        };
        self.request::<Value>(method, &path, Some(&body)).await?;
        Ok(())
    }

    /// Newest first.
    pub async fn keys(&self) -> anyhow::Result<Vec<VirtualKey>> {
        self.all("/api/keys").await
    }

    /// Returns the key and its secret, which can't be read again.
    pub async fn make_key(&self, new: &NewKey) -> anyhow::Result<(VirtualKey, String)> {
        let made: Made = self.post("/api/keys", &json!(new)).await?;
        let secret = made.secret.with_context(|| {
            format!(
                "the key was made, but the answer with its secret was lost; revoke `{}` and make another",
                made.key.id
            )
        })?;
        Ok((made.key, secret))
    }
}
