//! A workspace with a dispatcher over in-memory ports.

use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use steward_core::Cancellation;
use steward_core::agent::KeptFor;
use steward_core::ports::{
    AgentEditors, Authorized, BlobError, Blobs, Clock, Facts, Memory, Note, Reminder, StoreError, StoreResult,
    ToolScope, Tools as _,
};
use steward_core::tool::{CallSource, Preview, ToolCall, ToolError, ToolOutput, Undo};
use steward_core::{AgentId, TenantId, Timestamp, UserId, hash};
use steward_sandbox::process::Helper;
use steward_sandbox::python::{PythonConfig, PythonPool};
use steward_tools::own_database::OwnDatabases;
use steward_tools::terminal::TerminalConfig;
use steward_tools::{Dispatcher, DispatcherBuilder, Ports, ToolsConfig, standard_builder};
use tempfile::TempDir;
use uuid::Uuid;

/// Who asks.
pub const USER: UserId = UserId(Uuid::from_u128(3));
/// 2026-11-21T08:00:00Z.
pub const NOW: Timestamp = Timestamp(1_795_248_000_000);

pub struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        NOW
    }
    fn utc_offset_minutes(&self, _: Timestamp) -> i32 {
        60
    }
}

#[derive(Default)]
pub struct MemoryBlobs(Mutex<BTreeMap<String, Vec<u8>>>);

impl MemoryBlobs {
    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(&self, bytes: Vec<u8>) -> Result<String, BlobError> {
        let name = hash::sha256(&bytes);
        self.0.lock().unwrap().insert(name.clone(), bytes);
        Ok(name)
    }
    async fn get(&self, name: &str) -> Result<Vec<u8>, BlobError> {
        let all = self.0.lock().unwrap();
        all.get(name).cloned().ok_or_else(|| BlobError::Missing(name.to_owned()))
    }
}

type Owner = (AgentId, KeptFor);

#[derive(Default)]
pub struct MemoryFacts {
    pub memories: Mutex<BTreeMap<Owner, Memory>>,
    /// So many saves of the memory find that another run was faster.
    pub races: AtomicU64,
    pub saves: AtomicU64,
    docs: Mutex<BTreeMap<Owner, Memory>>,
    notes: Mutex<BTreeMap<Owner, BTreeMap<String, Note>>>,
    reminders: Mutex<BTreeMap<Owner, BTreeMap<String, Reminder>>>,
    /// Who may edit every agent.
    pub editors: Mutex<Vec<UserId>>,
}

#[async_trait]
impl AgentEditors for MemoryFacts {
    async fn may_edit(&self, _: TenantId, _: AgentId, user: UserId) -> StoreResult<bool> {
        Ok(self.editors.lock().unwrap().contains(&user))
    }
}

#[async_trait]
impl Facts for MemoryFacts {
    async fn memory(&self, _: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Memory> {
        Ok(self.memories.lock().unwrap().get(&(agent, of)).cloned().unwrap_or_default())
    }
    async fn save_memory(&self, _: TenantId, agent: AgentId, of: KeptFor, saved: &Memory) -> StoreResult<()> {
        let mut memories = self.memories.lock().unwrap();
        let memory = memories.entry((agent, of)).or_default();
        if self.races.load(Ordering::Relaxed) > 0 {
            self.races.fetch_sub(1, Ordering::Relaxed);
            memory.text.push_str("\nfrom another run");
            memory.version += 1;
        }
        if memory.version != saved.version {
            return Err(StoreError::Conflict("a newer memory".into()));
        }
        self.saves.fetch_add(1, Ordering::Relaxed);
        *memory = Memory { version: saved.version + 1, ..saved.clone() };
        Ok(())
    }
    async fn database_doc(&self, _: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Memory> {
        Ok(self.docs.lock().unwrap().get(&(agent, of)).cloned().unwrap_or_default())
    }
    async fn save_database_doc(&self, _: TenantId, agent: AgentId, of: KeptFor, saved: &Memory) -> StoreResult<()> {
        let mut docs = self.docs.lock().unwrap();
        let doc = docs.entry((agent, of)).or_default();
        if doc.version != saved.version {
            return Err(StoreError::Conflict("a newer documentation".into()));
        }
        *doc = Memory { version: saved.version + 1, ..saved.clone() };
        Ok(())
    }
    async fn save_note(&self, _: TenantId, agent: AgentId, of: KeptFor, note: &Note) -> StoreResult<Option<Note>> {
        let mut notes = self.notes.lock().unwrap();
        Ok(notes.entry((agent, of)).or_default().insert(note.title.clone(), note.clone()))
    }
    async fn remove_note(&self, _: TenantId, agent: AgentId, of: KeptFor, title: &str) -> StoreResult<()> {
        self.notes.lock().unwrap().entry((agent, of)).or_default().remove(title);
        Ok(())
    }
    async fn notes(&self, _: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Vec<Note>> {
        Ok(self.notes.lock().unwrap().entry((agent, of)).or_default().values().cloned().collect())
    }
    async fn save_reminder(&self, _: TenantId, agent: AgentId, of: KeptFor, reminder: &Reminder) -> StoreResult<()> {
        let mut reminders = self.reminders.lock().unwrap();
        reminders.entry((agent, of)).or_default().insert(reminder.id.clone(), reminder.clone());
        Ok(())
    }
    async fn remove_reminder(&self, _: TenantId, agent: AgentId, of: KeptFor, id: &str) -> StoreResult<()> {
        self.reminders.lock().unwrap().entry((agent, of)).or_default().remove(id);
        Ok(())
    }
    async fn reminders(&self, _: TenantId, agent: AgentId, of: KeptFor) -> StoreResult<Vec<Reminder>> {
        let mut all: Vec<_> =
            self.reminders.lock().unwrap().entry((agent, of)).or_default().values().cloned().collect();
        all.sort_by_key(|one| one.at);
        Ok(all)
    }
}

/// A workspace `w` beside a file `secret.txt` that no tool may reach.
pub struct Bench {
    dir: TempDir,
    pub tools: Dispatcher,
    pub facts: Arc<MemoryFacts>,
    pub blobs: Arc<MemoryBlobs>,
    pub scope: ToolScope,
    calls: AtomicU64,
}

impl Bench {
    pub fn new() -> Self {
        Self::allowing(&[])
    }

    pub fn allowing(web: &[String]) -> Self {
        Self::with(web, TerminalConfig::default())
    }

    pub fn with(web: &[String], terminal: TerminalConfig) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // Commands may run as another user, who must be able to walk here.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open).unwrap();
        let workspace = dir.path().join("w");
        std::fs::create_dir_all(workspace.join("notes")).unwrap();
        std::fs::write(dir.path().join("secret.txt"), "SECRET-OUTSIDE\n").unwrap();
        let config = ToolsConfig {
            web_allow: web.iter().map(|text| text.parse().unwrap()).collect(),
            terminal,
            sandbox_helper: helper(),
        };
        let (facts, blobs) = (Arc::new(MemoryFacts::default()), Arc::new(MemoryBlobs::default()));
        let ports = Ports {
            facts: facts.clone(),
            editors: facts.clone(),
            blobs: blobs.clone(),
            clock: Arc::new(Fixed),
            python: python(),
            knowledge: Arc::default(),
            data: Arc::default(),
            databases: OwnDatabases::new(&dir.path().join("data")),
        };
        Self {
            scope: scope(workspace),
            tools: standard_builder(config, &ports).and_then(DispatcherBuilder::build).unwrap(),
            facts,
            blobs,
            dir,
            calls: AtomicU64::new(0),
        }
    }

    /// The standard tools again, open for more.
    pub fn builder(&self) -> DispatcherBuilder {
        let config =
            ToolsConfig { web_allow: Vec::new(), terminal: TerminalConfig::default(), sandbox_helper: helper() };
        let ports = Ports {
            facts: self.facts.clone(),
            editors: self.facts.clone(),
            blobs: self.blobs.clone(),
            clock: Arc::new(Fixed),
            python: python(),
            knowledge: Arc::default(),
            data: Arc::default(),
            databases: OwnDatabases::new(&self.dir.path().join("data")),
        };
        standard_builder(config, &ports).unwrap()
    }

    /// The run is now one of this user, and of an agent that keeps each user's things apart.
    pub fn ask_as(&mut self, user: UserId) {
        self.scope.user = Some(user);
        self.scope.kept_for = Some(KeptFor::User(user));
    }

    pub fn memory(&self) -> String {
        let of = (self.scope.agent, self.scope.kept_for.unwrap());
        self.facts.memories.lock().unwrap().get(&of).map(|memory| memory.text.clone()).unwrap_or_default()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.scope.workspace.join(name)
    }

    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Ways out of the workspace, each a path that a model could give.
    pub fn escapes(&self) -> Vec<String> {
        let _ = symlink("../secret.txt", self.path("link.txt"));
        let _ = symlink("..", self.path("linkdir"));
        let _ = symlink(self.outside().join("secret.txt"), self.path("absolute-link"));
        vec![
            "../secret.txt".into(),
            "notes/../../secret.txt".into(),
            self.outside().join("secret.txt").display().to_string(),
            "link.txt".into(),
            "linkdir/secret.txt".into(),
            "absolute-link".into(),
            "/etc/passwd".into(),
            "/proc/self/environ".into(),
        ]
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        self.keyed(tool, arguments, &format!("key-{number}")).await
    }

    pub async fn keyed(&self, tool: &str, arguments: Value, key: &str) -> Result<ToolOutput, ToolError> {
        let call = Authorized {
            stage: None,
            args_hash: hash::of_json(&arguments),
            call: call(tool, arguments),
            idempotency_key: key.to_owned(),
        };
        self.tools.run(call, &self.scope).await
    }

    pub async fn ok(&self, tool: &str, arguments: Value) -> ToolOutput {
        match self.call(tool, arguments.clone()).await {
            Ok(output) => output,
            Err(error) => panic!("{tool} {arguments}: {error}"),
        }
    }

    /// The message that goes back to the model.
    pub async fn refused(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments.clone()).await {
            Err(ToolError::RespondToModel(message)) => message,
            Ok(output) if output.failed => output.content,
            other => panic!("{tool} {arguments}: {other:?}"),
        }
    }

    pub async fn preview(&self, tool: &str, arguments: Value) -> Preview {
        self.tools.preview(&call(tool, arguments), &self.scope).await
    }

    pub async fn undo(&self, output: &ToolOutput) -> Result<String, ToolError> {
        // Through text, as the event log keeps it.
        let text = serde_json::to_string(output.undo.as_ref().unwrap()).unwrap();
        let undo: Undo = serde_json::from_str(&text).unwrap();
        self.tools.undo(&undo, &self.scope).await
    }
}

/// The sandbox's other half.
pub fn helper() -> Helper {
    Helper { program: env!("CARGO_BIN_EXE_tools-sandbox-helper").into(), prefix: Vec::new() }
}

/// The sandbox's interpreter: the system's.
pub fn python() -> Arc<PythonPool> {
    Arc::new(PythonPool::new(helper(), PythonConfig::default()))
}

pub fn scope(workspace: PathBuf) -> ToolScope {
    ToolScope {
        tenant: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        run: None,
        agent: "00000000-0000-0000-0000-000000000002".parse().unwrap(),
        conversation: None,
        workspace,
        folder: String::new(),
        now: NOW,
        utc_offset_minutes: 60,
        timeout_ms: 20_000,
        cancellation: Cancellation::default(),
        consulted: steward_core::provenance::Consulted::default(),
        marked_files: std::sync::Arc::default(),
        references: 0,
        kept_for: Some(KeptFor::User(USER)),
        provenance: steward_core::provenance::Provenance::default(),
        skill: None,
        user: Some(USER),
    }
}

pub fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: "c1".into(),
        name: tool.into(),
        arguments,
        source: CallSource::Native,
        confidence: 1.0,
        signature: None,
    }
}
