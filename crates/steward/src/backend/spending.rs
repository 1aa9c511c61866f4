//! Usage, budgets and virtual keys.

use super::Backend;
use crate::compose::App;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use steward_access::NewKey;
use steward_core::ports::{
    Agents as _, BudgetScope, SpendLimit, SpendLimits as _, SpendState, UsageBy, UsageRecord as _, UsageRow,
    Users as _, VirtualKey, VirtualKeys as _,
};
use steward_core::spending::limit_problem;
use steward_core::{BudgetId, KeyId, Timestamp};
use uuid::Uuid;

/// The user that keys belong to which were made from the command line.
pub const LOCAL_USER: &str = "local@steward";

/// A value with a name for people.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Labelled<T> {
    /// The value.
    #[serde(flatten)]
    pub value: T,
    /// Its name.
    pub label: String,
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

impl Backend {
    /// The clock of this machine.
    pub fn now(&self) -> Timestamp {
        use steward_core::ports::Clock as _;
        steward_infra::SystemClock::new().now()
    }

    /// Sums of usage.
    pub async fn usage(&self, by: UsageBy, from: Timestamp, to: Timestamp) -> anyhow::Result<Vec<Labelled<UsageRow>>> {
        match self {
            Self::InProcess(app) => {
                let rows = app.store.usage(app.tenant, by, from, to, None).await?;
                let names = names(app).await?;
                Ok(rows
                    .into_iter()
                    .map(|value| {
                        let id = value.group.parse::<Uuid>().ok();
                        let name = id.and_then(|id| names.get(&id).cloned());
                        let label = name.unwrap_or_else(|| match (by, value.group.as_str()) {
                            (UsageBy::Day | UsageBy::Model, group) => group.to_owned(),
                            (_, "") => "(none)".to_owned(),
                            _ => "(deleted)".to_owned(),
                        });
                        Labelled { value, label }
                    })
                    .collect())
            }
            Self::Remote(client) => {
                let by = serde_json::to_value(by)?;
                let by = by.as_str().unwrap_or_default();
                let path = format!("/api/usage?by={by}&from={}&to={}", from.0, to.0);
                Ok(client.get::<Report>(&path).await?.items)
            }
        }
    }

    /// Budgets with what is gone of them.
    pub async fn budgets(&self) -> anyhow::Result<Vec<Labelled<SpendState>>> {
        match self {
            Self::InProcess(app) => {
                let states = app.store.spend_limits(app.tenant, app.clock.now()).await?;
                let names = names(app).await?;
                Ok(states
                    .into_iter()
                    .map(|value| {
                        let label = match owner(value.limit.scope) {
                            None => "installation".to_owned(),
                            Some(id) => names.get(&id).cloned().unwrap_or_else(|| "(deleted)".to_owned()),
                        };
                        Labelled { value, label }
                    })
                    .collect())
            }
            Self::Remote(client) => Ok(client.all("/api/budgets", usize::MAX).await?.0),
        }
    }

    /// Sets a budget; one for the same calls and period is changed.
    pub async fn set_budget(&self, mut limit: SpendLimit) -> anyhow::Result<()> {
        if let Some(problem) = limit_problem(&limit) {
            anyhow::bail!("{problem}");
        }
        let all = self.budgets().await?;
        let same = all.iter().find(|one| {
            let known = &one.value.limit;
            known.scope == limit.scope && known.period == limit.period
        });
        if let Some(same) = same {
            limit.id = same.value.limit.id;
        }
        match self {
            Self::InProcess(app) => {
                if same.is_none() {
                    limit.id = BudgetId(app.ids.next());
                }
                Ok(app.store.save_spend_limit(app.tenant, &limit).await?)
            }
            Self::Remote(client) => {
                let (tokens, cost) = (limit.tokens, limit.cost_micros);
                let (method, path, body) = if same.is_some() {
                    let body = json!({"tokens": tokens, "cost_micros": cost});
                    (Method::PUT, format!("/api/budgets/{}", limit.id), body)
                } else {
                    let body =
                        json!({"scope": limit.scope, "period": limit.period, "tokens": tokens, "cost_micros": cost});
                    (Method::POST, "/api/budgets".to_owned(), body)
                };
                client.ask::<Value>(method, &path, Some(&body)).await?;
                Ok(())
            }
        }
    }

    /// Removes a budget.
    pub async fn remove_budget(&self, id: BudgetId) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.store.remove_spend_limit(app.tenant, id).await?),
            Self::Remote(client) => {
                let path = format!("/api/budgets/{id}");
                client.ask(Method::DELETE, &path, None).await
            }
        }
    }

    /// Virtual keys that this command may see, newest first.
    pub async fn keys(&self) -> anyhow::Result<Vec<VirtualKey>> {
        match self {
            Self::InProcess(app) => all_keys(app).await,
            Self::Remote(client) => Ok(client.all("/api/keys", usize::MAX).await?.0),
        }
    }

    /// Makes a virtual key; the secret is known only now.
    pub async fn make_key(&self, new: NewKey) -> anyhow::Result<(VirtualKey, String)> {
        match self {
            Self::InProcess(app) => {
                let access = crate::front::access(app);
                access.service_user(LOCAL_USER, "local").await?;
                let user = app.store.user_by_email(app.tenant, LOCAL_USER).await?;
                let user = user.ok_or_else(|| anyhow::anyhow!("the local user is gone"))?;
                Ok(access.make_virtual_key(user.id, new).await?)
            }
            Self::Remote(client) => {
                let body = json!({
                    "name": new.name, "connections": new.connections, "agents": new.agents,
                    "requests_per_minute": new.requests_per_minute,
                    "tokens_per_minute": new.tokens_per_minute, "expires_at": new.expires_at,
                });
                let made: Made = client.post("/api/keys", &body).await?;
                let secret = made.secret.ok_or_else(|| {
                    anyhow::anyhow!(
                        "the key was made, but the answer with its secret was lost; revoke `{}` and make another",
                        made.key.id
                    )
                })?;
                Ok((made.key, secret))
            }
        }
    }

    /// Ends a virtual key.
    pub async fn revoke_key(&self, id: KeyId) -> anyhow::Result<()> {
        match self {
            Self::InProcess(app) => Ok(app.store.revoke_key(app.tenant, id, app.clock.now()).await?),
            Self::Remote(client) => {
                let path = format!("/api/keys/{id}");
                client.ask(Method::DELETE, &path, None).await
            }
        }
    }
}

async fn all_keys(app: &App) -> anyhow::Result<Vec<VirtualKey>> {
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let page = app.store.keys(app.tenant, None, after, 1000).await?;
        after = page.items.last().map(|key| key.id);
        keys.extend(page.items);
        if !page.more {
            return Ok(keys);
        }
    }
}

fn owner(scope: BudgetScope) -> Option<Uuid> {
    match scope {
        BudgetScope::Installation => None,
        BudgetScope::User(id) => Some(id.0),
        BudgetScope::Agent(id) => Some(id.0),
        BudgetScope::Connection(id) => Some(id.0),
        BudgetScope::Key(id) => Some(id.0),
    }
}

/// Names of everything that spends, by id; of users only the one of this command.
async fn names(app: &App) -> anyhow::Result<HashMap<Uuid, String>> {
    let mut names = HashMap::new();
    for agent in app.store.agents(app.tenant).await? {
        names.insert(agent.id.0, agent.name);
    }
    for known in app.connections.known() {
        names.insert(known.connection.id.0, known.connection.name.clone());
    }
    for key in all_keys(app).await? {
        if let Some(user) = app.store.user(app.tenant, key.user).await? {
            names.insert(user.id.0, user.email);
        }
        names.insert(key.id.0, key.name);
    }
    Ok(names)
}
