use crate::app::{Action, App, AppResult, Caller, Resource, authorize, listed_owner};
use crate::dto::budgets::{UsageReport, UsageRow as UsageView};
use crate::inputs::in_order;
use std::collections::HashMap;
use steward_core::ports::{BudgetScope, StoreError, UsageBy, UsageRow};
use steward_core::{AgentId, ConnectionId, KeyId, Timestamp, UserId};
use uuid::Uuid;

/// Days that are reported where nothing is said.
const DAYS: i64 = 30;
const GONE: &str = "(deleted)";

impl App {
    /// Sums by days of UTC, from the day of `from` up to `to`: operators see everybody's, others their own.
    pub async fn usage(
        &self,
        caller: &Caller,
        by: UsageBy,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
    ) -> AppResult<UsageReport> {
        authorize(caller, Action::Read, Resource::Usage)?;
        let to = to.unwrap_or(Timestamp(self.now().0 + 1));
        let from = from.unwrap_or_else(|| Timestamp::of_day(to.day().saturating_sub(DAYS - 1)));
        in_order(from, to, "give two times in order, in milliseconds since 1970 UTC")?;
        let user = listed_owner(caller, Resource::Usage);
        let rows = self.store.usage(self.tenant(), by, from, to, user).await?;
        let labels = Labels::of_groups(self, by, &rows).await?;
        let mut total = UsageRow::default();
        let mut items = Vec::with_capacity(rows.len());
        for sum in rows {
            let label = labels.group(by, &sum.group);
            add(&mut total, &sum);
            items.push(UsageView { sum, label });
        }
        Ok(UsageReport { items, unpriced_calls: total.unpriced, total })
    }
}

fn add(total: &mut UsageRow, more: &UsageRow) {
    total.calls += more.calls;
    total.failed += more.failed;
    total.unpriced += more.unpriced;
    total.prompt_tokens += more.prompt_tokens;
    total.cached_tokens += more.cached_tokens;
    total.completion_tokens += more.completion_tokens;
    total.cost_micros += more.cost_micros;
}

#[derive(Default)]
pub(crate) struct Labels(HashMap<Uuid, String>);

impl Labels {
    async fn of_groups(app: &App, by: UsageBy, rows: &[UsageRow]) -> AppResult<Self> {
        let ids = rows.iter().filter_map(|row| row.group.parse().ok());
        let scopes = ids.filter_map(|id: Uuid| match by {
            UsageBy::Agent => Some(BudgetScope::Agent(AgentId(id))),
            UsageBy::User => Some(BudgetScope::User(UserId(id))),
            UsageBy::Connection => Some(BudgetScope::Connection(ConnectionId(id))),
            UsageBy::Key => Some(BudgetScope::Key(KeyId(id))),
            UsageBy::Day | UsageBy::Model => None,
        });
        Self::of(app, scopes).await
    }

    pub async fn of(app: &App, scopes: impl Iterator<Item = BudgetScope>) -> AppResult<Self> {
        let mut names = HashMap::new();
        for scope in scopes {
            if let Some((id, name)) = name(app, scope).await? {
                names.insert(id, name);
            }
        }
        Ok(Self(names))
    }

    fn group(&self, by: UsageBy, group: &str) -> String {
        match by {
            UsageBy::Day | UsageBy::Model => group.to_owned(),
            UsageBy::Agent if group.is_empty() => "(no agent)".to_owned(),
            UsageBy::User if group.is_empty() => "(command line)".to_owned(),
            UsageBy::Connection if group.is_empty() => "(no connection)".to_owned(),
            UsageBy::Key if group.is_empty() => "(no key)".to_owned(),
            _ => {
                let known = group.parse().ok().and_then(|id: Uuid| self.0.get(&id));
                known.map_or_else(|| GONE.to_owned(), Clone::clone)
            }
        }
    }

    pub fn scope(&self, scope: BudgetScope) -> String {
        let id = match scope {
            BudgetScope::Installation => return "installation".to_owned(),
            BudgetScope::User(UserId(id))
            | BudgetScope::Agent(AgentId(id))
            | BudgetScope::Connection(ConnectionId(id))
            | BudgetScope::Key(KeyId(id)) => id,
        };
        self.0.get(&id).map_or_else(|| GONE.to_owned(), Clone::clone)
    }

    pub fn knows(&self, scope: BudgetScope) -> bool {
        scope == BudgetScope::Installation || self.scope(scope) != GONE
    }
}

async fn name(app: &App, scope: BudgetScope) -> AppResult<Option<(Uuid, String)>> {
    let deps = app.deps();
    let found = match scope {
        BudgetScope::Installation => return Ok(None),
        BudgetScope::User(id) => (id.0, app.access.email(id).await?),
        BudgetScope::Agent(id) => {
            let agent = present(deps.store.agent(deps.tenant, id).await)?;
            (id.0, agent.map(|agent| agent.name))
        }
        BudgetScope::Connection(id) => {
            let all = app.connections.list().await;
            let known = all.into_iter().find(|known| known.connection.id == id);
            (id.0, known.map(|known| known.connection.name))
        }
        BudgetScope::Key(id) => {
            let key = present(deps.store.key(deps.tenant, id).await)?;
            (id.0, key.map(|key| key.name))
        }
    };
    Ok(found.1.map(|name| (found.0, name)))
}

fn present<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
