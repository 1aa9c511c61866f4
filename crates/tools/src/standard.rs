use crate::control::{Feedback, FinalAnswer};
use crate::dispatcher::{Dispatcher, DispatcherBuilder};
use crate::documents::DocumentsSearch;
use crate::domains::{DomainList, DomainLoad, DomainTextSave, OosQuery, OosSchemaSearch};
use crate::error::ToolsError;
use crate::facts::{
    Keeper, NotesCreate, NotesList, NotesRead, Reminders, RemindersCreate, RemindersDone, RemindersList, SaveMemory,
};
use crate::files::{Grep, List, Read, Write};
use crate::mail::MailDraft;
use crate::outbound::HostPort;
use crate::own_database::{DbQuery, OwnDatabases, UpdateDbSchema};
use crate::python::Python;
use crate::skills::PythonRunner;
use crate::sql::SqlTool;
use crate::terminal::{Terminal, TerminalConfig, TerminalWrite};
use crate::web::WebFetch;
use std::sync::Arc;
use steward_core::datasource::DomainTextKind;
use steward_core::ports::{AgentEditors, Blobs, Clock, DataSlot, Facts, KnowledgeSlot};
use steward_sandbox::process::Helper;

#[derive(Debug, Clone)]
pub struct ToolsConfig {
    /// Hosts and ports outside the public internet that `web_fetch` may reach.
    pub web_allow: Vec<HostPort>,
    /// Changes to the commands that `terminal` and `terminal_write` may run.
    pub terminal: TerminalConfig,
    pub sandbox_helper: Helper,
}

#[derive(Clone)]
pub struct Ports {
    pub facts: Arc<dyn Facts>,
    pub editors: Arc<dyn AgentEditors>,
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
    pub python: Arc<dyn PythonRunner>,
    pub knowledge: KnowledgeSlot,
    pub data: DataSlot,
    /// Private databases of the agents.
    pub databases: OwnDatabases,
}

/// All standard tools, in the order in which models see them.
pub fn standard_builder(config: ToolsConfig, ports: &Ports) -> Result<DispatcherBuilder, ToolsError> {
    let (data, blobs) = (&ports.data, &ports.blobs);
    let keeper = Keeper { facts: Arc::clone(&ports.facts), editors: Arc::clone(&ports.editors) };
    let reminders = Reminders { keeper: keeper.clone(), clock: Arc::clone(&ports.clock) };
    Ok(Dispatcher::builder()
        .with(List)
        .with(Read)
        .with(Grep)
        .with(Write::new(Arc::clone(blobs)))
        .with(DocumentsSearch(Arc::clone(&ports.knowledge)))
        .with(SqlTool)
        .with(OosSchemaSearch(Arc::clone(data)))
        .with(OosQuery(Arc::clone(data)))
        .with(DomainList(Arc::clone(data)))
        .with(DomainLoad(Arc::clone(data)))
        .with(DomainTextSave { data: Arc::clone(data), kind: DomainTextKind::Domain })
        .with(DomainTextSave { data: Arc::clone(data), kind: DomainTextKind::View })
        .with(Terminal::new(config.terminal.clone(), config.sandbox_helper.clone())?)
        .with(TerminalWrite::new(config.terminal, config.sandbox_helper, Arc::clone(blobs))?)
        .with(Python::new(Arc::clone(&ports.python)))
        .with(WebFetch(config.web_allow))
        .with(NotesCreate(keeper.clone()))
        .with(NotesList(keeper.clone()))
        .with(NotesRead(keeper.clone()))
        .with(RemindersCreate(reminders.clone()))
        .with(RemindersList(reminders.clone()))
        .with(RemindersDone(reminders))
        .with(SaveMemory(keeper.clone()))
        .with(DbQuery { databases: ports.databases.clone(), editors: Arc::clone(&ports.editors) })
        .with(UpdateDbSchema(keeper))
        .with(MailDraft(Arc::clone(blobs)))
        .with(Feedback)
        .with(FinalAnswer))
}
