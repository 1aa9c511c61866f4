//! What an agent keeps for its users: its memory, its private database, and what it has written down about that. Each
//! user sees and changes their own, whatever their role. What all share, whoever may use the agent sees, and whoever may
//! edit it changes.

use crate::agent_lookup;
use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::dto::own_data::{
    ImportedAgent, KeptNote, KeptText, KeptTextInput, OwnColumn, OwnDatabase, OwnRows, OwnTable,
};
use serde_json::json;
use steward_core::AgentId;
use steward_core::agent::{Agent, KeptFor};
use steward_core::ports::{Facts as _, Memory, StoreError};
use steward_core::provenance::Provenance;
use steward_tools::facts::MAX_MEMORY_CHARS;
use steward_tools::own_database::{DatabaseError, MAX_DOC_CHARS};
use steward_tools::work_pool::RETRY_AFTER_S;

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
        let (_, of) = self.kept_of(caller, Action::Read, id).await?;
        Ok(KeptText::of(self.store.memory(self.tenant(), id, of).await?, MAX_MEMORY_CHARS))
    }

    /// A conflict if the memory has changed since the version that was read.
    pub async fn set_agent_memory(&self, caller: &Caller, id: AgentId, input: &KeptTextInput) -> AppResult<KeptText> {
        let (_, of) = self.kept_of(caller, Action::Write, id).await?;
        let text = checked(&input.text, MAX_MEMORY_CHARS)?;
        let before = self.store.memory(self.tenant(), id, of).await?;
        same_version(before.version, input.version)?;
        let saved = self.store.save_memory(self.tenant(), id, of, &written_by_person(text, before)).await;
        saved.map_err(changed_meanwhile)?;
        self.agent_memory(caller, id).await
    }

    pub async fn clear_agent_memory(&self, caller: &Caller, id: AgentId) -> AppResult<()> {
        let (_, of) = self.kept_of(caller, Action::Write, id).await?;
        for _ in 0..TRIES {
            let before = self.store.memory(self.tenant(), id, of).await?;
            if before.text.is_empty() {
                return Ok(());
            }
            // With the text goes where it came from.
            let cleared = Memory { version: before.version, ..Memory::default() };
            match self.store.save_memory(self.tenant(), id, of, &cleared).await {
                Err(StoreError::Conflict(_)) => {}
                done => return Ok(done?),
            }
        }
        Err(AppError::conflict("memory_busy", "runs change the memory all the time", "try again in a moment"))
    }

    /// By title.
    pub async fn agent_notes(&self, caller: &Caller, id: AgentId) -> AppResult<Vec<KeptNote>> {
        let (_, of) = self.kept_of(caller, Action::Read, id).await?;
        let notes = self.store.notes(self.tenant(), id, of).await?;
        Ok(notes.into_iter().map(KeptNote::from).collect())
    }

    pub async fn delete_agent_note(&self, caller: &Caller, id: AgentId, title: &str) -> AppResult<()> {
        let (_, of) = self.kept_of(caller, Action::Write, id).await?;
        Ok(self.store.remove_note(self.tenant(), id, of, title).await?)
    }

    pub async fn agent_database(&self, caller: &Caller, id: AgentId) -> AppResult<OwnDatabase> {
        let (agent, of) = self.kept_of(caller, Action::Read, id).await?;
        let facts = self.databases.facts(id, of).await?;
        let tables = facts.schema.tables.into_iter().map(|table| OwnTable {
            name: table.name,
            view: table.view,
            columns: table.columns.into_iter().map(|one| OwnColumn { name: one.name, kind: one.kind }).collect(),
            rows: table.row_estimate,
        });
        let doc = self.store.database_doc(self.tenant(), id, of).await?;
        Ok(OwnDatabase {
            enabled: agent.own_data.database,
            shared: agent.own_data.shared,
            tables: tables.collect(),
            bytes: facts.bytes,
            most_bytes: facts.most_bytes,
            has_copy: facts.has_copy,
            origins: facts.provenance.origins.into_iter().collect(),
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
        let (_, of) = self.kept_of(caller, Action::Read, id).await?;
        let limit = limit.clamp(1, MAX_PAGE);
        let page = self.databases.rows(id, of, (table.to_owned(), skip, limit)).await?;
        Ok(OwnRows::of(page, Some(skip)))
    }

    /// A statement that only reads.
    pub async fn query_agent_database(&self, caller: &Caller, id: AgentId, sql: &str) -> AppResult<OwnRows> {
        let (_, of) = self.kept_of(caller, Action::Read, id).await?;
        if sql.trim().is_empty() || sql.chars().count() > MAX_SQL {
            return Err(AppError::invalid(
                "sql",
                format!("a statement has 1 to {MAX_SQL} characters"),
                "write one SELECT",
            ));
        }
        let page = self.databases.query(id, of, sql.to_owned()).await.map_err(|error| match error {
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
        let (_, of) = self.kept_of(caller, Action::Write, id).await?;
        let text = checked(&input.text, MAX_DOC_CHARS)?;
        let before = self.store.database_doc(self.tenant(), id, of).await?;
        same_version(before.version, input.version)?;
        let saved = self.store.save_database_doc(self.tenant(), id, of, &written_by_person(text, before)).await;
        saved.map_err(changed_meanwhile)?;
        Ok(KeptText::of(self.store.database_doc(self.tenant(), id, of).await?, MAX_DOC_CHARS))
    }

    /// The file is set aside, until a table is made again.
    pub async fn clear_agent_database(&self, caller: &Caller, id: AgentId) -> AppResult<()> {
        let (_, of) = self.kept_of(caller, Action::Write, id).await?;
        self.databases.clear(id, of).await?;
        Ok(())
    }

    /// Puts back what was set aside.
    pub async fn restore_agent_database(&self, caller: &Caller, id: AgentId) -> AppResult<OwnDatabase> {
        let (_, of) = self.kept_of(caller, Action::Write, id).await?;
        self.databases.restore_copy(id, of).await?;
        self.agent_database(caller, id).await
    }

    /// Refuses who may not import there; asked before the file is read.
    pub async fn may_import_metatron(&self, caller: &Caller, id: AgentId) -> AppResult<()> {
        authorize(caller, Action::Operate, Resource::Agents)?;
        self.require_disk_room()?;
        self.agent_for(caller, Action::Write, id).await?;
        Ok(())
    }

    /// Takes over the instruction, the memory and the tables of a database of MetatronOS: for the caller, or for all where
    /// they share what the agent keeps.
    pub async fn import_metatron(&self, caller: &Caller, id: AgentId, file: Vec<u8>) -> AppResult<ImportedAgent> {
        self.may_import_metatron(caller, id).await?;
        let (before, of) = self.kept_of(caller, Action::Write, id).await?;
        if file.len() > MAX_IMPORT {
            return Err(AppError::invalid("file", "the file is larger than 64 MB", "delete what it no longer needs"));
        }
        let (instruction, imported) =
            self.databases.import_metatron(id, of, file).await.map_err(|error| match error {
                DatabaseError::Refused(message) => {
                    AppError::invalid("file", message, "give the SQLite file of MetatronOS")
                }
                other => other.into(),
            })?;
        let on = instruction.memory_enabled;
        let shared = before.own_data.shared;
        // Where nobody wrote a core, the agent keeps its own.
        let mut patch = json!({"own_data": {"memory": on, "database": on, "documentation": on, "shared": shared}});
        if !instruction.core_instruction.trim().is_empty() {
            patch["instructions"] = json!(instruction.core_instruction);
        }
        let agent = self.patch_agent(caller, id, &patch).await?;
        let memory = self.store.memory(self.tenant(), id, of).await?;
        let memory = written_by_person(instruction.memory.trim().to_owned(), memory);
        self.store.save_memory(self.tenant(), id, of, &memory).await.map_err(changed_meanwhile)?;
        let doc = self.store.database_doc(self.tenant(), id, of).await?;
        let doc = written_by_person(instruction.db_schema.trim().to_owned(), doc);
        self.store.save_database_doc(self.tenant(), id, of, &doc).await.map_err(changed_meanwhile)?;
        Ok(ImportedAgent::of(agent, imported))
    }

    /// The agent, and whose that is which the caller sees of what it keeps.
    async fn kept_of(&self, caller: &Caller, action: Action, id: AgentId) -> AppResult<(Agent, KeptFor)> {
        authorize(caller, Action::Read, Resource::Agents)?;
        let agent = self.agent_for(caller, Action::Read, id).await?;
        if !agent.own_data.shared {
            return Ok((agent, KeptFor::User(caller.user())));
        }
        if action == Action::Write {
            authorize(caller, action, agent_lookup::of(&agent))?;
        }
        Ok((agent, KeptFor::Everybody))
    }
}

/// What a person writes comes from nobody outside; how confidential it is stays, since they have read what was there.
fn written_by_person(text: String, before: Memory) -> Memory {
    let provenance = Provenance { level: before.provenance.level, ..Provenance::default() };
    Memory { text, version: before.version, provenance }
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
            DatabaseError::Busy(why) => {
                Self::new(ErrorKind::Exhausted, why, "wait for what is at work on it, then try again")
                    .code("database_busy")
                    .retry_after(RETRY_AFTER_S)
            }
            DatabaseError::Failed(why) => {
                Self::new(ErrorKind::Internal, why, "look at the program's log and at the data folder")
            }
        }
    }
}
