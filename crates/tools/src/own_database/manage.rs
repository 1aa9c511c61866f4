//! What people see and do with an agent's database.

use super::DatabaseError;
use super::OwnDatabases;
use super::metatron::{self, Instruction};
use super::query::provenance_of;
use crate::sql::file_work::work_on_own_database;
use steward_core::agent::KeptFor;
use steward_core::provenance::Provenance;
use steward_core::tables::Schema;
use steward_core::{AgentId, UserId};
use steward_sandbox::sql::private_database::{Imported, PrivateDatabase};
use steward_sandbox::sql::{Rows, Truncated};

/// An agent's database as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseFacts {
    pub schema: Schema,
    /// On disk.
    pub bytes: u64,
    pub most_bytes: u64,
    /// Whether there is a copy from before the last change of tables, or from before it was cleared.
    pub has_copy: bool,
    /// That of all runs which wrote to it.
    pub provenance: Provenance,
}

/// Rows of a table at a time, when all of them are read.
const PAGE: u32 = 400;

impl OwnDatabases {
    pub async fn facts(&self, agent: AgentId, of: KeptFor) -> Result<DatabaseFacts, DatabaseError> {
        self.on(agent, of, |database| {
            Ok(DatabaseFacts {
                schema: database.schema()?,
                bytes: database.size(),
                most_bytes: database.most_bytes(),
                has_copy: database.has_copy(),
                provenance: provenance_of(database)?,
            })
        })
        .await
    }

    /// Up to `limit` rows of a table or a view after the first `skip`.
    pub async fn rows(
        &self,
        agent: AgentId,
        of: KeptFor,
        (table, skip, limit): (String, u64, u32),
    ) -> Result<Rows, DatabaseError> {
        self.on(agent, of, move |database| {
            let mut page = database.rows(&table, skip, limit.saturating_add(1))?;
            if page.rows.len() > limit as usize {
                page.rows.truncate(limit as usize);
                page.truncated = Some(Truncated::Rows);
            }
            Ok(page)
        })
        .await
    }

    /// A statement that only reads.
    pub async fn query(&self, agent: AgentId, of: KeptFor, sql: String) -> Result<Rows, DatabaseError> {
        self.on(agent, of, move |database| Ok(database.query(&sql)?)).await
    }

    /// Sets it aside; `false` if there was none.
    pub async fn clear(&self, agent: AgentId, of: KeptFor) -> Result<bool, DatabaseError> {
        self.on(agent, of, |database| Ok(database.clear()?)).await
    }

    pub async fn restore_copy(&self, agent: AgentId, of: KeptFor) -> Result<(), DatabaseError> {
        self.on(agent, of, |database| Ok(database.restore_copy()?)).await
    }

    /// All tables with all their rows.
    pub async fn dump(&self, agent: AgentId, user: UserId) -> Result<Vec<(String, Rows)>, DatabaseError> {
        self.on(agent, KeptFor::User(user), |database| {
            let mut tables = Vec::new();
            for table in database.schema()?.tables.into_iter().filter(|table| !table.view) {
                let mut all = database.rows(&table.name, 0, PAGE)?;
                let mut more = all.truncated.is_some() || all.rows.len() == PAGE as usize;
                while more {
                    let page = database.rows(&table.name, all.rows.len() as u64, PAGE)?;
                    more = page.truncated.is_some() || page.rows.len() == PAGE as usize;
                    all.rows.extend(page.rows);
                }
                tables.push((table.name, all));
            }
            Ok(tables)
        })
        .await
    }

    /// Deletes all that agents keep for a user, for good; returns how many databases there were.
    pub async fn delete_of(&self, user: UserId) -> Result<u64, DatabaseError> {
        let this = self.clone();
        blocking(move || {
            let mut deleted = 0;
            for (_, database) in this.of_user(user).map_err(|error| DatabaseError::Failed(error.to_string()))? {
                database.remove()?;
                deleted += 1;
            }
            Ok(deleted)
        })
        .await
    }

    /// Takes the tables of a database of MetatronOS over; what was there is set aside.
    pub async fn import_metatron(
        &self,
        agent: AgentId,
        of: KeptFor,
        file: Vec<u8>,
    ) -> Result<(Instruction, Imported), DatabaseError> {
        self.on(agent, of, move |database| metatron::import(database, &file)).await
    }

    async fn on<T: Send + 'static>(
        &self,
        agent: AgentId,
        of: KeptFor,
        work: impl FnOnce(&PrivateDatabase) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let database = self.of(agent, of);
        work_on_own_database(database.path().to_owned(), move || work(&database)).await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DatabaseError> + Send + 'static,
) -> Result<T, DatabaseError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| DatabaseError::Failed(format!("the database's work broke off: {error}")))?
}
