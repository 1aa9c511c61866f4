//! What outlives the nodes: database, model, the counter of effects, and the list of what was acknowledged.

use crate::crash::node::{Ack, Node};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::agent::{Agent, Tuning};
use steward_core::ports::Skills as _;
use steward_core::skill::Skill;
use steward_core::{AgentId, TenantId};
use steward_infra::FileBlobs;
use steward_store::{Store, StoreConfig};
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script};
use steward_testkit::{EffectOptions, EffectServer, ScriptedModelServer};
use tempfile::TempDir;

pub const TENANT: TenantId = TenantId::DEFAULT;
/// The tools, one of each effect class; writes twice, as they are what may not be repeated.
pub const TOOLS: [&str; 4] = ["effect_write", "effect_keyed", "effect_write", "effect_read"];

/// The surroundings of a test.
pub struct Bed {
    folder: TempDir,
    pub database: Option<String>,
    pub model: ScriptedModelServer,
    pub effects: EffectServer,
    pub http: reqwest::Client,
    pub acks: Arc<Mutex<Vec<Ack>>>,
    /// Requests that were answered with status 200, so that they may not be lost.
    pub accepted: Arc<Mutex<Vec<String>>>,
}

/// The `n`-th request of a test.
pub fn request(n: usize) -> String {
    format!("Please {} with n={n}; once.", TOOLS[n % TOOLS.len()])
}

/// The first line of what the run is called holds this.
pub fn mark(n: usize) -> String {
    format!("n={n};")
}

/// After a tool's result a slow answer, before it the call that the request names. No memory: the
/// same prompt gets the same reply, whichever node asks.
fn script(requests: usize, reply: &Reply) -> Script {
    let rule = |role: &str, contains: String, then| Rule { contains, role: Some(role.to_owned()), times: None, then };
    let mut script = Script { otherwise: Some(Behaviour::text("I was asked nothing.")), ..Script::default() };
    script.rules.push(rule("tool", String::new(), Behaviour::Reply(reply.clone())));
    for n in 0..requests {
        let call = Behaviour::calls([(TOOLS[n % TOOLS.len()], json!({"n": n}))]);
        script.rules.push(rule("user", mark(n), call));
    }
    script
}

/// The agent that all requests go to.
pub fn agent(tools: Vec<String>) -> Agent {
    Agent {
        id: AgentId(uuid::Uuid::from_u128(1)),
        name: "steward".to_owned(),
        instructions: "Do what is asked, once.".to_owned(),
        tools,
        connection: None,
        policy: steward_core::policy::Policy::default(),
        // The one with most model calls, as each crash costs one.
        budget: steward_core::budget::Preset::Plan,
        routing: steward_core::routing::Routing::default(),
        deep: steward_core::agent::Deep::default(),
        own_data: steward_core::agent::OwnData::default(),
        auto_link_uploads: false,
        tuning: Tuning::default(),
        credentials: std::collections::BTreeMap::new(),
        metadata: serde_json::Map::new(),
        skills: Vec::new(),
    }
}

impl Bed {
    /// Servers, an empty database with the agent, and the key that the first start makes.
    pub async fn new(database: Option<String>, requests: usize, reply: Reply, effects: EffectOptions) -> Self {
        let tools = TOOLS[1..].iter().map(|&name| name.to_owned()).collect();
        let agent = agent(tools);
        Self::with(database, script(requests, &reply), effects, agent, &[]).await
    }

    /// The same with other answers and another agent.
    pub async fn with(
        database: Option<String>,
        script: Script,
        effects: EffectOptions,
        agent: Agent,
        skills: &[Skill],
    ) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let bed = Self {
            folder: tempfile::tempdir().unwrap(),
            database,
            model: ScriptedModelServer::start(script).await.unwrap(),
            effects: EffectServer::start(effects).await.unwrap(),
            http: reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap(),
            acks: Arc::default(),
            accepted: Arc::default(),
        };
        std::fs::create_dir_all(bed.data()).unwrap();
        std::fs::create_dir_all(bed.work()).unwrap();
        let store = bed.store().await;
        for skill in skills {
            store.save_skill(TENANT, skill).await.unwrap();
        }
        store.save_agent(TENANT, &agent).await.unwrap();
        drop(store);
        let mut first = Node::start(&bed, None, "first");
        for _ in 0..1000 {
            if bed.key_file().exists() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(bed.key_file().exists(), "the first start made no key: {}", first.log());
        first.kill().await;
        bed
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The workspace of the nodes.
    pub fn work(&self) -> PathBuf {
        self.folder().join("work")
    }

    fn key_file(&self) -> PathBuf {
        self.data().join("api-key")
    }

    /// The store, opened by this process; on SQLite no node may run meanwhile.
    pub async fn store(&self) -> Store {
        let config = match &self.database {
            Some(url) => StoreConfig::postgres(url),
            None => StoreConfig::sqlite(self.data()),
        };
        Store::open(config, Arc::new(FileBlobs::new(&self.data()))).await.unwrap()
    }

    /// Sends a request to a node in the background; a node that is not there yet is tried again.
    pub fn send(&self, node: &Node, n: usize) -> tokio::task::JoinHandle<()> {
        self.send_text(node, n, &request(n))
    }

    /// The same with other words, which hold the mark.
    pub fn send_text(&self, node: &Node, n: usize, text: &str) -> tokio::task::JoinHandle<()> {
        let key = std::fs::read_to_string(self.key_file()).unwrap();
        let body = json!({"model": "steward", "stream": true, "messages": [{"role": "user", "content": text}]});
        let call = self
            .http
            .post(format!("http://127.0.0.1:{}/v1/chat/completions", node.port))
            .bearer_auth(key.trim())
            .header("content-type", "application/json")
            .body(body.to_string());
        let accepted = Arc::clone(&self.accepted);
        tokio::spawn(async move {
            for _ in 0..500 {
                match call.try_clone().unwrap().send().await {
                    Ok(answer) => {
                        let status = answer.status();
                        if status.is_success() {
                            accepted.lock().unwrap().push(mark(n));
                        }
                        let text = answer.text().await;
                        assert!(status.is_success(), "request {n}: {status} {text:?}");
                        return;
                    }
                    Err(error) if error.is_connect() => {
                        tokio::time::sleep(Duration::from_millis(4)).await;
                    }
                    Err(_) => return,
                }
            }
        })
    }
}
