//! A whole engine in this process, over a scripted model.

use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::StreamExt;
use steward_access::governance::SharedDetector;
use steward_app::WorkspaceTables;
use steward_core::agent::{Agent, Deep, Tuning};
use steward_core::budget::Preset;
use steward_core::event::{Event, EventBody, Mode, Origin};
use steward_core::model::{Auth, Capabilities, Connection, Provider, Strategy};
use steward_core::policy::Policy;
use steward_core::ports::{Blobs, Clock, DataSlot, Embedder};
use steward_core::routing::Routing;
use steward_core::{AgentId, ApprovalId, ConnectionId, RunId, TenantId};
use steward_engine::{Deps, EngineConfig, RunService, StartRun};
use steward_infra::{FileBlobs, InProcessBus, SystemClock, UuidV7};
use steward_intent::IntentService;
use steward_models::embed::LazyMiniLm;
use steward_models::openai::{Client, Secrets, Timeouts};
use steward_models::router::Router;
use steward_sandbox::process::Helper;
use steward_sandbox::python::{PythonConfig, PythonPool};
use steward_store::{Store, StoreConfig};
use steward_testkit::model_server::ScriptedModelServer;
use steward_tools::own_database::OwnDatabases;
use steward_tools::terminal::TerminalConfig;
use steward_tools::{DispatcherBuilder, Ports, ToolsConfig, standard_builder};
use uuid::Uuid;

/// A second connection, whose model calls tools by text.
pub const OTHER: ConnectionId = ConnectionId(Uuid::from_u128(7));

/// A service over the store in `data`, asking `model`.
pub async fn service(data: &Path, model: &ScriptedModelServer) -> RunService {
    let first = connection(model, untrusted());
    let other = Connection {
        id: OTHER,
        name: "another".into(),
        model: "another".into(),
        ..connection(model, Capabilities { strategy: Strategy::React, ..untrusted() })
    };
    service_over(data, vec![first, other]).await
}

/// What is assumed of a model that an exam has graded below C: it is helped.
pub fn untrusted() -> Capabilities {
    Capabilities { trusted: false, ..Capabilities::default() }
}

/// The connection that is asked first.
pub fn connection(model: &ScriptedModelServer, capabilities: Capabilities) -> Connection {
    Connection {
        id: ConnectionId(Uuid::from_u128(5)),
        name: "scripted".into(),
        provider: Provider::Compatible,
        base_url: model.base_url(),
        model: "scripted".into(),
        auth: Auth::None,
        capabilities,
        wire: None,
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
    }
}

/// A service over the store in `data` and these connections, the first one by default.
pub async fn service_over(data: &Path, connections: Vec<Connection>) -> RunService {
    service_with(data, connections).await.0
}

/// A service whose `web_fetch` reaches the private host and port `allow`.
pub async fn service_allowing(data: &Path, model: &ScriptedModelServer, allow: &str) -> RunService {
    let one = connection(model, untrusted());
    let clock = Arc::new(SystemClock::new());
    composed(data, vec![one], &[allow], clock, config()).await.0
}

/// A service that goes by `clock`.
pub async fn service_at(data: &Path, model: &ScriptedModelServer, clock: Arc<dyn Clock>) -> RunService {
    let one = connection(model, untrusted());
    composed(data, vec![one], &[], clock, config()).await.0
}

/// The same, with its store.
pub async fn service_with(data: &Path, connections: Vec<Connection>) -> (RunService, Arc<Store>) {
    let clock = Arc::new(SystemClock::new());
    composed(data, connections, &[], clock, config()).await
}

/// A service with places for so many runs at work.
pub async fn service_of(data: &Path, model: &ScriptedModelServer, max_runs: usize) -> RunService {
    let one = connection(model, untrusted());
    let config = EngineConfig { max_runs, ..config() };
    let clock = Arc::new(SystemClock::new());
    composed(data, vec![one], &[], clock, config).await.0
}

/// A service with a configuration that `change` makes of the usual one.
pub async fn service_set(
    data: &Path,
    connections: Vec<Connection>,
    change: impl FnOnce(&mut EngineConfig),
) -> (RunService, Arc<Store>) {
    let mut config = config();
    change(&mut config);
    composed(data, connections, &[], Arc::new(SystemClock::new()), config).await
}

/// The stores of all services here.
static STORES: Mutex<Vec<Weak<Store>>> = Mutex::new(Vec::new());

/// The store of a service, with all that the engine itself doesn't ask of it.
pub fn store_of(service: &RunService) -> Arc<Store> {
    let wanted = Arc::as_ptr(&service.deps().store).cast::<()>();
    let stores = STORES.lock().unwrap();
    stores.iter().filter_map(Weak::upgrade).find(|store| Arc::as_ptr(store).cast() == wanted).unwrap()
}

fn config() -> EngineConfig {
    EngineConfig { plan_candidates: 1, ..EngineConfig::default() }
}

async fn composed(
    data: &Path,
    connections: Vec<Connection>,
    web_allow: &[&str],
    clock: Arc<dyn Clock>,
    config: EngineConfig,
) -> (RunService, Arc<Store>) {
    let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(data));
    let store = Arc::new(Store::open(StoreConfig::sqlite(data), blobs.clone()).await.unwrap());
    STORES.lock().unwrap().push(Arc::downgrade(&store));
    let client = Client::new(Secrets::none(), None, Timeouts::default());
    let helper = || Helper { program: env!("CARGO_BIN_EXE_steward").into(), prefix: vec!["sandbox-exec".into()] };
    let knowledge = steward_core::ports::KnowledgeSlot::default();
    let data_slot = steward_core::ports::DataSlot::default();
    let tools = standard_builder(
        ToolsConfig {
            web_allow: web_allow.iter().map(|one| one.parse().unwrap()).collect(),
            terminal: TerminalConfig::default(),
            sandbox_helper: helper(),
        },
        &Ports {
            facts: store.clone(),
            editors: Arc::new(steward_app::StoredEditors(store.clone())),
            blobs,
            clock: Arc::clone(&clock),
            python: Arc::new(PythonPool::new(helper(), PythonConfig::default())),
            knowledge: Arc::clone(&knowledge),
            data: Arc::clone(&data_slot),
            databases: OwnDatabases::new(data),
        },
    )
    .and_then(DispatcherBuilder::build)
    .unwrap();
    let embedder: Arc<dyn Embedder> = Arc::new(LazyMiniLm::with(
        steward_testkit::cache().join("models/all-MiniLM-L6-v2-int8"),
        None,
        // Each test is a process of its own: the vectors of the tools are made once for all.
        Some(steward_testkit::cache().join("vectors/tests.v1")),
    ));
    let service = RunService::new(Deps {
        limiter: Arc::default(),
        knowledge,
        data: data_slot,
        personal_data: Arc::new(SharedDetector),
        tenant: TenantId::DEFAULT,
        store: store.clone(),
        models: Arc::new(Router::new(client, Arc::clone(&clock), connections, None)),
        tools: Arc::new(tools),
        embedder: Arc::clone(&embedder),
        intent: Arc::new(IntentService::new(
            Arc::clone(&embedder),
            Arc::new(WorkspaceTables::new(embedder)),
            DataSlot::default(),
        )),
        bus: Arc::new(InProcessBus::new()),
        price: Arc::new(|connection: &Connection| connection.price),
        clock,
        ids: Arc::new(UuidV7),
        config: config.into(),
    });
    (service, store)
}

/// A request to an agent with every tool.
pub fn request(input: &str, mode: Mode, workspace: &Path) -> StartRun {
    StartRun {
        agent: Agent {
            id: AgentId(Uuid::from_u128(6)),
            name: "a".into(),
            instructions: "Help.".into(),
            tools: vec![],
            connection: None,
            policy: Policy::default(),
            budget: Preset::Agent,
            tuning: Tuning::default(),
            routing: Routing::default(),
            deep: Deep { enabled: Some(false), ..Deep::default() },
            own_data: steward_core::agent::OwnData::default(),
            auto_link_uploads: false,
            credentials: std::collections::BTreeMap::new(),
            metadata: serde_json::Map::new(),
            skills: Vec::new(),
        },
        input: input.into(),
        conversation: None,
        history: vec![],
        documents: vec![],
        mode,
        origin: Origin::Api,
        asked_by: "test".into(),
        workspace: workspace.display().to_string(),
        grants: vec![],
        connection: None,
        planner: None,
        executor: None,
        intent_filter: false,
        user: None,
        client_retries: false,
        key: None,
        source: None,
        started_by: None,
        outside: steward_core::provenance::Provenance::default(),
    }
}

/// Events until `done` says so; panics after 60 s.
pub async fn until(service: &RunService, run: RunId, done: impl Fn(&EventBody) -> bool) -> Vec<Event> {
    let mut events = service.watch(run, 0);
    let mut seen: Vec<Event> = Vec::new();
    let follow = async {
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            let last = done(&event.body);
            seen.push(event);
            if last {
                return;
            }
        }
    };
    let ended = tokio::time::timeout(Duration::from_mins(5), follow).await;
    assert!(ended.is_ok(), "no end: {:?}", kinds(&seen));
    seen
}

/// The kinds of events, in order.
pub fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.body.kind()).collect()
}

/// Until the run has ended. Each run of these tests replays as it was.
pub async fn finished(service: &RunService, run: RunId) -> Vec<Event> {
    let events = until(service, run, |body| matches!(body, EventBody::RunFinished { .. })).await;
    let report = service.replay(run).await.unwrap();
    assert!(report.same, "{:#?}", report.differences);
    assert_eq!(report.events, events.len() as u64);
    events
}

/// Until a person is asked; the question's id.
pub async fn asked(service: &RunService, run: RunId) -> ApprovalId {
    let events = until(service, run, |body| matches!(body, EventBody::ApprovalRequested { .. })).await;
    match &events.last().unwrap().body {
        EventBody::ApprovalRequested { approval_id, .. } => *approval_id,
        _ => unreachable!("until ends with it"),
    }
}
