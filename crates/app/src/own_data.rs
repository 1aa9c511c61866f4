//! What an agent keeps for itself: its memory, its private database, and what it has written down about that. Whoever may
//! use the agent sees what it shares with all; whoever may change the agent changes it. What it keeps for one user is
//! that user's alone.

use crate::agent_lookup::of;
use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::dto::own_data::{ImportedAgent, KeptText, KeptTextInput, OwnColumn, OwnDatabase, OwnRows, OwnTable};
use serde_json::json;
use steward_core::agent::{Agent, DatabaseScope};
use steward_core::ports::{Facts as _, Memory, StoreError};
use steward_core::{AgentId, UserId};
use steward_tools::facts::MAX_MEMORY_CHARS;
use steward_tools::own_database::{DatabaseError, MAX_DOC_CHARS};

/// Most rows of a page.
const MAX_PAGE: u32 = 200;
/// Longest statement, characters.
const MAX_SQL: usize = 100_000;
/// Largest file that is imported, bytes.
const MAX_IMPORT: usize = 64 << 20;
/// Tries of clearing a text while runs change it.
const TRIES: u32 = 50;

impl App {
    pub async fn agent_memory(&self, caller: &Caller, id: AgentId) -> AppResult<KeptText> {
        authorize(caller, Action::Read, Resource::Agents)?;
        self.agent_for(caller, Action::Read, id).await?;
        Ok(KeptText::of(self.store.memory(self.tenant(), id).await?, MAX_MEMORY_CHARS))
    }

    /// A conflict if the memory has changed since the version that was read.
    pub async fn set_agent_memory(&self, caller: &Caller, id: AgentId, input: &KeptTextInput) -> AppResult<KeptText> {
        self.may_change_kept(caller, id).await?;
        let text = checked(&input.text, MAX_MEMORY_CHARS)?;
        let before = self.store.memory(self.tenant(), id).await?;
        same_version(before.version, input.version)?;
        let saved = self.store.save_memory(self.tenant(), id, &Memory { text, ..before }).await;
        saved.map_err(changed_meanwhile)?;
        self.agent_memory(caller, id).await
    }

    pub async fn clear_agent_memory(&self, caller: &Caller, id: AgentId) -> AppResult<()> {
        self.may_change_kept(caller, id).await?;
        for _ in 0..TRIES {
            let before = self.store.memory(self.tenant(), id).await?;
            if before.text.is_empty() {
                return Ok(());
            }
            // With the text goes what made it confidential.
            let cleared = Memory { text: String::new(), classified: None, ..before };
            match self.store.save_memory(self.tenant(), id, &cleared).await {
                Err(StoreError::Conflict(_)) => {}
                done => return Ok(done?),
            }
        }
        Err(AppError::conflict("memory_busy", "runs change the memory all the time", "try again in a moment"))
    }

    pub async fn agent_database(&self, caller: &Caller, id: AgentId) -> AppResult<OwnDatabase> {
        let (agent, user) = self.database_for(caller, Action::Read, id).await?;
        let facts = self.databases.facts(id, user).await?;
        let tables = facts.schema.tables.into_iter().map(|table| OwnTable {
            name: table.name,
            view: table.view,
            columns: table.columns.into_iter().map(|one| OwnColumn { name: one.name, kind: one.kind }).collect(),
            rows: table.row_estimate,
        });
        let doc = self.store.database_doc(self.tenant(), id, user).await?;
        Ok(OwnDatabase {
            scope: agent.own_data.database,
            tables: tables.collect(),
            bytes: facts.bytes,
            most_bytes: facts.most_bytes,
            has_copy: facts.has_copy,
            documentation: KeptText::of(doc, MAX_DOC_CHARS),
        })
    }

    /// Up to `limit` rows after the first `skip`.
    pub async fn agent_table(
        &self,
        caller: &Caller,
        id: AgentId,
        table: &str,
        (skip, limit): (u64, u32),
    ) -> AppResult<OwnRows> {
        let (_, user) = self.database_for(caller, Action::Read, id).await?;
        let limit = limit.clamp(1, MAX_PAGE);
        let page = self.databases.rows(id, user, (table.to_owned(), skip, limit)).await?;
        Ok(OwnRows::of(page, Some(skip)))
    }

    /// A statement that only reads.
    pub async fn query_agent_database(&self, caller: &Caller, id: AgentId, sql: &str) -> AppResult<OwnRows> {
        let (_, user) = self.database_for(caller, Action::Read, id).await?;
        if sql.trim().is_empty() || sql.chars().count() > MAX_SQL {
            return Err(AppError::invalid(
                "sql",
                format!("a statement has 1 to {MAX_SQL} characters"),
                "write one SELECT",
            ));
        }
        let page = self.databases.query(id, user, sql.to_owned()).await.map_err(|error| match error {
            DatabaseError::NotFound(message) | DatabaseError::Refused(message) => {
                AppError::invalid("sql", message, "one SELECT over the tables of the agent is run")
            }
            other => other.into(),
        })?;
        Ok(OwnRows::of(page, None))
    }

    pub async fn set_agent_database_doc(
        &self,
        caller: &Caller,
        id: AgentId,
        input: &KeptTextInput,
    ) -> AppResult<KeptText> {
        let (_, user) = self.database_for(caller, Action::Write, id).await?;
        let text = checked(&input.text, MAX_DOC_CHARS)?;
        let before = self.store.database_doc(self.tenant(), id, user).await?;
        same_version(before.version, input.version)?;
        let saved = self.store.save_database_doc(self.tenant(), id, user, &Memory { text, ..before }).await;
        saved.map_err(changed_meanwhile)?;
        Ok(KeptText::of(self.store.database_doc(self.tenant(), id, user).await?, MAX_DOC_CHARS))
    }

    /// The file is set aside, until a table is made again.
    pub async fn clear_agent_database(&self, caller: &Caller, id: AgentId) -> AppResult<()> {
        let (_, user) = self.database_for(caller, Action::Write, id).await?;
        self.databases.clear(id, user).await?;
        Ok(())
    }

    /// Puts back what was set aside.
    pub async fn restore_agent_database(&self, caller: &Caller, id: AgentId) -> AppResult<OwnDatabase> {
        let (_, user) = self.database_for(caller, Action::Write, id).await?;
        self.databases.restore_copy(id, user).await?;
        self.agent_database(caller, id).await
    }

    /// Takes over the instruction, the memory and the tables of a database of MetatronOS.
    pub async fn import_metatron(&self, caller: &Caller, id: AgentId, file: Vec<u8>) -> AppResult<ImportedAgent> {
        self.may_change_kept(caller, id).await?;
        let (before, user) = self.database_for(caller, Action::Write, id).await?;
        if file.len() > MAX_IMPORT {
            return Err(AppError::invalid("file", "the file is larger than 64 MB", "delete what it no longer needs"));
        }
        let (instruction, imported) =
            self.databases.import_metatron(id, user, file).await.map_err(|error| match error {
                DatabaseError::Refused(message) => {
                    AppError::invalid("file", message, "give the SQLite file of MetatronOS")
                }
                other => other.into(),
            })?;
        let on = instruction.memory_enabled;
        let database = match (on, before.own_data.database) {
            (true, DatabaseScope::Off) => DatabaseScope::Agent,
            (true, scope) => scope,
            (false, _) => DatabaseScope::Off,
        };
        // Where nobody wrote a core, the agent keeps its own.
        let mut patch = json!({"own_data": {"memory": on, "database": database, "documentation": on}});
        if !instruction.core_instruction.trim().is_empty() {
            patch["instructions"] = json!(instruction.core_instruction);
        }
        let agent = self.patch_agent(caller, id, &patch).await?;
        let memory = self.store.memory(self.tenant(), id).await?;
        let memory = Memory { text: instruction.memory.trim().to_owned(), ..memory };
        self.store.save_memory(self.tenant(), id, &memory).await.map_err(changed_meanwhile)?;
        let doc = self.store.database_doc(self.tenant(), id, user).await?;
        let doc = Memory { text: instruction.db_schema.trim().to_owned(), ..doc };
        self.store.save_database_doc(self.tenant(), id, user, &doc).await.map_err(changed_meanwhile)?;
        Ok(ImportedAgent::of(agent, imported))
    }

    async fn may_change_kept(&self, caller: &Caller, id: AgentId) -> AppResult<Agent> {
        authorize(caller, Action::Operate, Resource::Agents)?;
        self.agent_for(caller, Action::Write, id).await
    }

    /// The agent, and whose of its databases the caller sees: their own where each user has one.
    async fn database_for(&self, caller: &Caller, action: Action, id: AgentId) -> AppResult<(Agent, Option<UserId>)> {
        authorize(caller, Action::Read, Resource::Agents)?;
        let agent = self.agent_for(caller, Action::Read, id).await?;
        if agent.own_data.database == DatabaseScope::User {
            return Ok((agent, Some(caller.user())));
        }
        if action == Action::Write {
            authorize(caller, Action::Operate, Resource::Agents)?;
            authorize(caller, action, of(&agent))?;
        }
        Ok((agent, None))
    }
}

fn checked(text: &str, most: usize) -> AppResult<String> {
    let text = text.trim();
    let length = text.chars().count();
    if length > most {
        return Err(AppError::invalid(
            "text",
            format!("the text has {length} characters, at most {most} fit"),
            "write it shorter; nothing was saved",
        ));
    }
    Ok(text.to_owned())
}

fn same_version(now: u64, read: u64) -> AppResult<()> {
    if now == read {
        return Ok(());
    }
    Err(changed(format!("the text has changed since version {read}; it is at {now}")))
}

fn changed_meanwhile(error: StoreError) -> AppError {
    match error {
        StoreError::Conflict(_) => changed("the text was changed while this was saved".to_owned()),
        other => other.into(),
    }
}

fn changed(title: String) -> AppError {
    AppError::conflict("changed_meanwhile", title, "read it again, and change that")
}

impl From<DatabaseError> for AppError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::NotFound(what) => Self::not_found(what),
            DatabaseError::Refused(why) => Self::invalid("", why, "change the statement"),
            DatabaseError::Conflict(why) => Self::conflict("not_restorable", why, "look at the database as it is"),
            DatabaseError::Failed(why) => {
                Self::new(ErrorKind::Internal, why, "look at the program's log and at the data folder")
            }
        }
    }
}
