//! What agents keep for one user: exported with them, and deleted with them.

use super::{Lines, line};
use crate::app::{App, AppError};
use serde_json::json;
use steward_core::UserId;

impl App {
    pub(super) async fn count_own_databases(&self, user: UserId) -> Result<usize, AppError> {
        Ok(self.own_databases(user)?.len() + self.store.database_docs_of(self.tenant(), user).await?.len())
    }

    pub(super) async fn remove_own_databases(&self, user: UserId) -> Result<u64, AppError> {
        let files = self.databases.delete_of(user).await?;
        Ok(files + self.store.delete_database_docs_of(self.tenant(), user).await?)
    }

    pub(super) async fn export_own_databases(&self, user: UserId, lines: &mut Lines) -> Result<(), AppError> {
        for (agent, doc) in self.store.database_docs_of(self.tenant(), user).await? {
            line(lines, "database_documentation", json!({"agent": agent, "text": doc.text})).await?;
        }
        for agent in self.own_databases(user)? {
            for (table, all) in self.databases.dump(agent, user).await? {
                let shown = json!({"agent": agent, "table": table, "columns": all.columns, "rows": all.rows});
                line(lines, "database_table", shown).await?;
            }
        }
        Ok(())
    }

    fn own_databases(&self, user: UserId) -> Result<Vec<steward_core::AgentId>, AppError> {
        let found = self.databases.of_user(user).map_err(|error| {
            AppError::unavailable(format!("the folder of the agents' databases can't be read: {error}"))
        })?;
        Ok(found.into_iter().map(|(agent, _)| agent).collect())
    }
}
