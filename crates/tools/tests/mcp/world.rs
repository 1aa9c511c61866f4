//! A hub over in-memory ports, and what calls it.

use crate::ports::{Count, Kept, Now, Safe, Servers};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;
use steward_core::Cancellation;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::ports::{McpServers as _, ToolScope};
use steward_core::skill::{CredentialWanted, Skill};
use steward_core::tool::{ToolError, ToolOutput};
use steward_core::{AgentId, McpServerId, TenantId, Timestamp, UserId};
use steward_sandbox::process::Helper;
use steward_tools::mcp::{McpConfig, McpExecutor, McpHub, McpPorts};
use steward_tools::skills::{Executor as _, SkillCall};
use steward_tools::{Context, HostPolicy, HostRules};
use tempfile::TempDir;
use uuid::Uuid;

pub const TENANT: TenantId = TenantId::DEFAULT;
pub const START: i64 = 1_795_248_000_000;

/// The Python that has the official SDK, and all folders that it is installed in.
pub fn python() -> (String, Vec<String>) {
    let program = steward_testkit::set_up("venv-mcp/bin/python3");
    let real = program.canonicalize().unwrap();
    let home = real.parent().and_then(Path::parent).unwrap();
    let folders = [steward_testkit::set_up("venv-mcp"), home.to_owned(), servers()];
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let outside = |path: &&PathBuf| path.as_path() != Path::new("/usr");
    let read = folders.iter().filter(outside).map(text).collect();
    (text(&program), read)
}

fn servers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/servers")
}

pub fn script(name: &str) -> String {
    servers().join(name).to_str().unwrap().to_owned()
}

/// A hub and its ports.
pub struct World {
    pub hub: Arc<McpHub>,
    pub servers: Arc<Servers>,
    pub skills: Arc<Kept>,
    pub vault: Arc<Safe>,
    pub now: Arc<Now>,
    pub folder: TempDir,
    executor: McpExecutor,
}

pub fn user(number: u128) -> UserId {
    UserId(Uuid::from_u128(number))
}

pub fn agent() -> AgentId {
    AgentId(Uuid::from_u128(7))
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut McpConfig)) -> Self {
        let (servers, skills, vault): (Arc<Servers>, Arc<Kept>, Arc<Safe>) = Default::default();
        let now = Arc::new(Now(AtomicI64::new(START)));
        Self::over(servers, skills, vault, now, change)
    }

    /// The same rows and secrets after a restart.
    pub fn again(self) -> Self {
        Self::over(self.servers, self.skills, self.vault, self.now, |_| {})
    }

    fn over(
        servers: Arc<Servers>,
        skills: Arc<Kept>,
        vault: Arc<Safe>,
        now: Arc<Now>,
        change: impl FnOnce(&mut McpConfig),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ports = McpPorts {
            servers: servers.clone(),
            skills: skills.clone(),
            vault: vault.clone(),
            clock: now.clone(),
            ids: Arc::new(Count::default()),
        };
        let helper = Helper { program: env!("CARGO_BIN_EXE_tools-sandbox-helper").into(), prefix: Vec::new() };
        let mut config = McpConfig::new(helper, folder.path(), HostPolicy::new(HostRules::default()));
        change(&mut config);
        let hub = Arc::new(McpHub::new(ports, config));
        Self { executor: McpExecutor::new(Arc::clone(&hub)), hub, servers, skills, vault, now, folder }
    }

    /// Keeps a server called `t`.
    pub async fn server(&self, transport: McpTransport) -> McpServer {
        let server = McpServer {
            id: McpServerId(Uuid::from_u128(1)),
            name: "t".to_owned(),
            transport,
            credential: None,
            per_user: false,
            enabled: true,
            tools: Vec::new(),
            checked_at: None,
            error: None,
        };
        self.save(&server).await;
        server
    }

    pub async fn save(&self, server: &McpServer) {
        self.servers.save_mcp_server(TENANT, server).await.unwrap();
    }

    pub async fn saved(&self) -> McpServer {
        let id = McpServerId(Uuid::from_u128(1));
        self.servers.mcp_server(TENANT, id).await.unwrap()
    }

    /// The Python server over stdio with these options.
    pub fn stdio(options: &[&str]) -> McpTransport {
        let (program, read) = python();
        let mut command = vec![program, script("server.py")];
        command.extend(options.iter().map(|text| (*text).to_owned()));
        McpTransport::Stdio {
            command,
            secret_variable: None,
            env: BTreeMap::new(),
            secrets: BTreeMap::new(),
            network: false,
            read,
            write: Vec::new(),
        }
    }

    /// Checks the server, accepts all of its tools and attaches them.
    pub async fn accept_all(&self) -> McpServer {
        let id = self.saved().await.id;
        let server = self.hub.check(TENANT, id, Some(user(1))).await.unwrap();
        assert_eq!(server.error, None);
        let mut names = Vec::new();
        for tool in &server.tools {
            let accepted = self.hub.accept(TENANT, id, &tool.name, &tool.hash(), "ada").await;
            accepted.unwrap();
            names.push(tool.name.clone());
        }
        let attached = self.hub.attach(TENANT, id, Some(agent()), &names, "ada").await;
        assert_eq!(attached.unwrap().len(), names.len());
        self.saved().await
    }

    pub fn skill(&self, tool: &str) -> Skill {
        let skills = self.skills.skills.lock().unwrap();
        let named = skills.values().find(|one| one.name == format!("t_{tool}"));
        named.unwrap_or_else(|| panic!("no skill for {tool}")).clone()
    }

    pub fn context(limit: Duration, stop: &Cancellation) -> Context {
        let scope = ToolScope {
            tenant: TENANT,
            run: None,
            agent: agent(),
            conversation: None,
            workspace: "/".into(),
            folder: String::new(),
            now: Timestamp(START),
            utc_offset_minutes: 0,
            timeout_ms: 0,
            user: Some(user(1)),
            consulted: steward_core::provenance::Consulted::default(),
            marked_files: std::sync::Arc::default(),
            references: 0,
            kept_for: None,
            provenance: steward_core::provenance::Provenance::default(),
            skill: None,
            cancellation: stop.clone(),
        };
        Context::new(scope, "key".to_owned(), limit)
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let context = Self::context(Duration::from_mins(1), &Cancellation::default());
        self.call_in(tool, arguments, &context).await
    }

    pub async fn call_in(&self, tool: &str, arguments: Value, context: &Context) -> Result<ToolOutput, ToolError> {
        let skill = self.skill(tool);
        self.executor.check(&skill).unwrap();
        let job = SkillCall { skill: &skill, arguments: &arguments, secret: None };
        self.executor.run(job, context).await.map_err(Into::into)
    }

    pub async fn credential(&self, name: &str) {
        let mut server = self.saved().await;
        server.credential = Some(CredentialWanted { name: Some(name.to_owned()), ..CredentialWanted::default() });
        self.save(&server).await;
    }
}

/// The message of a refusal.
pub fn refusal(result: Result<ToolOutput, ToolError>) -> String {
    match result {
        Err(ToolError::RespondToModel(text)) => text,
        other => panic!("no refusal: {other:?}"),
    }
}

/// Waits for a file that a server writes.
pub async fn wait_for(path: PathBuf) {
    for _ in 0..600 {
        if path.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} did not appear", path.display());
}

/// A Python program that serves HTTP; killed when dropped.
pub struct Served {
    child: Child,
    pub port: u16,
}

impl Served {
    pub fn start(name: &str, options: &[&str]) -> Self {
        let mut child =
            Command::new(python().0).arg(script(name)).args(options).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        let port = line.trim().parse().expect("the server prints its port");
        Self { child, port }
    }

    pub fn transport(&self) -> McpTransport {
        McpTransport::Http {
            url: format!("http://127.0.0.1:{}/mcp", self.port),
            allow: vec![format!("127.0.0.1:{}", self.port)],
        }
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}
