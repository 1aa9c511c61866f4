//! Dispatcher, browsers and runs of a test.

use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::Cancellation;
use steward_core::ports::{Authorized, BlobError, Blobs, ToolScope, Tools as _};
use steward_core::tool::{CallSource, Preview, ToolCall, ToolError, ToolOutput};
use steward_core::{RunId, Timestamp, hash};
use steward_sandbox::process::Helper;
use steward_tools::Dispatcher;
use steward_tools::browser::{BrowserConfig, Browsers, find_browser, with_browser};
use steward_tools::outbound::{Client, Resolve};
use tempfile::TempDir;

/// Every name is this machine; says what it was asked for.
#[derive(Default)]
pub struct Names {
    pub asked: Mutex<Vec<String>>,
    /// Names that are found only from the second time on.
    pub late: Vec<String>,
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let mut asked = self.asked.lock().unwrap();
        let first = !asked.iter().any(|name| name == host);
        asked.push(host.to_owned());
        if first && self.late.iter().any(|name| name == host) {
            return Err(io::Error::other("not yet"));
        }
        Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))])
    }
}

#[derive(Default)]
struct MemoryBlobs(Mutex<BTreeMap<String, Vec<u8>>>);

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

/// The tools over browsers that reach what is allowed.
pub struct Bench {
    pub tools: Arc<Dispatcher>,
    pub browsers: Browsers,
    pub names: Arc<Names>,
    dir: TempDir,
}

impl Bench {
    pub fn allowing(places: &[String]) -> Self {
        Self::with(places, Names::default(), |_| {})
    }

    pub fn with(places: &[String], names: Names, set: impl FnOnce(&mut BrowserConfig)) -> Self {
        let names = Arc::new(names);
        let allow = places.iter().map(|place| place.parse().unwrap()).collect();
        let client = Client::resolving(allow, names.clone());
        let mut config = BrowserConfig::new(program(), helper(), client);
        // A busy machine takes its time; what is about a limit sets its own.
        config.start = Duration::from_mins(5);
        config.load = Duration::from_mins(2);
        set(&mut config);
        let browsers = Browsers::new(config);
        let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::default());
        let tools = with_browser(Dispatcher::builder(), &browsers, &blobs);
        Self { tools: Arc::new(tools.build().unwrap()), browsers, names, dir: tempfile::tempdir().unwrap() }
    }

    /// A run of its own.
    pub fn run(&self, number: u128) -> Run {
        let workspace = self.dir.path().join(number.to_string());
        std::fs::create_dir_all(&workspace).unwrap();
        let run = RunId(uuid::Uuid::from_u128(number));
        Run { tools: Arc::clone(&self.tools), scope: scope(run, workspace) }
    }
}

/// Calls of one run.
#[derive(Clone)]
pub struct Run {
    tools: Arc<Dispatcher>,
    pub scope: ToolScope,
}

impl Run {
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let call = Authorized {
            stage: None,
            args_hash: hash::of_json(&arguments),
            idempotency_key: format!("{tool} {arguments}"),
            call: call(tool, arguments),
        };
        self.tools.run(call, &self.scope).await
    }

    pub async fn ok(&self, tool: &str, arguments: Value) -> ToolOutput {
        match self.call(tool, arguments.clone()).await {
            Ok(output) => output,
            Err(error) => panic!("{tool} {arguments}: {error}"),
        }
    }

    pub async fn refused(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments.clone()).await {
            Err(ToolError::RespondToModel(message)) => message,
            other => panic!("{tool} {arguments}: {other:?}"),
        }
    }

    pub async fn open(&self, url: &str) -> ToolOutput {
        self.ok("browser_open", serde_json::json!({"url": url})).await
    }

    pub async fn preview(&self, tool: &str, arguments: Value) -> Preview {
        self.tools.preview(&call(tool, arguments), &self.scope).await
    }

    pub async fn undo(&self, output: &ToolOutput) -> Result<String, ToolError> {
        let undo = output.undo.as_ref().unwrap();
        self.tools.undo(undo, &self.scope).await
    }
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: "c1".into(),
        name: tool.into(),
        arguments,
        source: CallSource::Native,
        confidence: 1.0,
        signature: None,
    }
}

fn scope(run: RunId, workspace: PathBuf) -> ToolScope {
    ToolScope {
        tenant: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        run: Some(run),
        agent: "00000000-0000-0000-0000-000000000002".parse().unwrap(),
        conversation: None,
        workspace,
        folder: String::new(),
        now: Timestamp(1_795_248_000_000),
        utc_offset_minutes: 60,
        timeout_ms: 600_000,
        cancellation: Cancellation::default(),
        consulted: steward_core::provenance::Consulted::default(),
        marked_files: std::sync::Arc::default(),
        references: 0,
        kept_for: None,
        provenance: steward_core::provenance::Provenance::default(),
        skill: None,
        user: None,
    }
}

/// The machine's browser, as `scripts/chromium.sh` finds it.
#[expect(clippy::disallowed_methods, reason = "tests")]
fn program() -> PathBuf {
    let search: Vec<PathBuf> = std::env::split_paths(&std::env::var("PATH").unwrap()).collect();
    let wanted = std::env::var("STEWARD_CHROMIUM").ok();
    find_browser(wanted.as_deref(), &search).expect("Chromium is missing; run `scripts/setup.sh test`")
}

fn helper() -> Helper {
    Helper { program: env!("CARGO_BIN_EXE_tools-sandbox-helper").into(), prefix: Vec::new() }
}

/// The number before an element whose words begin so.
pub fn number(content: &str, words: &str) -> u32 {
    let at = content.find(&format!(" {words}")).unwrap_or_else(|| panic!("no `{words}` in:\n{content}"));
    let from = content[..at].rfind('[').unwrap() + 1;
    content[from..at].parse().unwrap()
}

/// Names of the processes below this one. Each test has a process of its own.
pub fn below() -> BTreeMap<i32, String> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let (head, tail) = stat.rsplit_once(") ").unwrap();
        let mut fields = tail.split(' ');
        let (state, parent) = (fields.next().unwrap(), fields.next().unwrap());
        if state != "Z" {
            let name = head.split_once('(').unwrap().1.to_owned();
            parents.insert(pid, (parent.parse::<i32>().unwrap(), name));
        }
    }
    let own = i32::try_from(std::process::id()).unwrap();
    let mut found = BTreeMap::new();
    loop {
        let more: Vec<(i32, String)> = parents
            .iter()
            .filter(|(pid, (parent, _))| !found.contains_key(*pid) && (*parent == own || found.contains_key(parent)))
            .map(|(pid, (_, name))| (*pid, name.clone()))
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Waits until `wanted`; fails after a long while.
pub async fn until(what: &str, mut wanted: impl FnMut() -> bool) {
    let since = Instant::now();
    while !wanted() {
        assert!(since.elapsed() < Duration::from_mins(5), "{what}: {:?}", below());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
