//! What a node holds and lets go: runs that panic, undos, work that goes on without its run.

use crate::engine::bed::{kinds, request, service, until};
use crate::engine::outcome;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use steward_access::governance::SharedDetector;
use steward_core::event::{EventBody, Mode, Outcome};
use steward_core::policy::RiskClass;
use steward_core::ports::{Authorized, ToolScope, Tools};
use steward_core::tool::{EffectClass, Preview, ToolCall, ToolError, ToolOutput, ToolSpec, Undo};
use steward_core::{RunId, TenantId};
use steward_engine::{Deps, EngineConfig, RunService};
use steward_testkit::model_server::{Behaviour, Rule, Script, ScriptedModelServer};
use tokio::sync::Notify;

/// Longest wait of a test.
const LIMIT: Duration = Duration::from_secs(20);

/// A tool that does what a test wants.
#[derive(Default)]
struct Odd {
    panics_once: AtomicBool,
    /// Works until it is told to stop.
    endless: AtomicBool,
    began: Notify,
    stopped: Arc<AtomicBool>,
    undos: AtomicUsize,
    undo_may_end: Notify,
}

#[async_trait]
impl Tools for Odd {
    fn catalogue(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "act".to_owned(),
            description: "Acts.".to_owned(),
            parameters: json!({"type": "object"}).into(),
            effect: EffectClass::Read,
            risk: RiskClass::Read,
            sends_out: false,
            utterances: Arc::default(),
            result_limit: 1000,
            skill: None,
        }]
    }

    async fn preview(&self, _: &ToolCall, _: &ToolScope) -> Preview {
        Preview::default()
    }

    async fn run(&self, _: Authorized, scope: &ToolScope) -> Result<ToolOutput, ToolError> {
        assert!(!self.panics_once.swap(false, Ordering::SeqCst), "on purpose");
        self.began.notify_one();
        if self.endless.load(Ordering::SeqCst) {
            let (scope, stopped) = (scope.clone(), Arc::clone(&self.stopped));
            let began = Instant::now();
            let work = move || {
                while !scope.stopped() && began.elapsed() < LIMIT {
                    std::thread::sleep(Duration::from_millis(5));
                }
                stopped.store(scope.stopped(), Ordering::SeqCst);
            };
            tokio::task::spawn_blocking(work).await.unwrap();
        }
        Ok(ToolOutput {
            undo: Some(Undo::Snapshot { tool: "act".to_owned(), snapshot: Value::Null }),
            ..ToolOutput::text("acted")
        })
    }

    async fn undo(&self, _: &Undo, _: &ToolScope) -> Result<String, ToolError> {
        self.undos.fetch_add(1, Ordering::SeqCst);
        self.began.notify_one();
        self.undo_may_end.notified().await;
        Ok("as before".to_owned())
    }
}

struct Bed {
    tools: Arc<Odd>,
    service: RunService,
    work: tempfile::TempDir,
    _data: tempfile::TempDir,
    _model: ScriptedModelServer,
}

impl Bed {
    async fn new() -> Self {
        let rule = |role: &str, then| Rule { contains: String::new(), role: Some(role.to_owned()), times: None, then };
        let model = ScriptedModelServer::start(Script {
            rules: vec![
                rule("tool", Behaviour::text("I acted.")),
                rule("user", Behaviour::calls([("act", json!({}))])),
            ],
            ..Script::default()
        })
        .await
        .unwrap();
        let data = tempfile::tempdir().unwrap();
        let tools = Arc::new(Odd::default());
        let deps = service(data.path(), &model).await.deps().clone();
        let service = RunService::new(Deps {
            limiter: Arc::default(),
            knowledge: Arc::default(),
            data: Arc::default(),
            personal_data: Arc::new(SharedDetector),
            tools: tools.clone(),
            config: EngineConfig {
                lease: Duration::from_millis(600),
                poll: Duration::from_millis(50),
                ..deps.config.copy()
            }
            .into(),
            ..deps
        });
        Self { tools, service, work: tempfile::tempdir().unwrap(), _data: data, _model: model }
    }

    async fn start(&self) -> RunId {
        let request = request("Act", Mode::Loop, self.work.path());
        self.service.start(request).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_panics_is_let_go_and_taken_up_again() {
    let bed = Bed::new().await;
    bed.tools.panics_once.store(true, Ordering::SeqCst);
    bed.service.serve();
    let run = bed.start().await;
    let events = until(&bed.service, run, |body| matches!(body, EventBody::RunFinished { .. })).await;
    assert_eq!(outcome(&events).0, Outcome::Completed);
    assert!(kinds(&events).contains(&"run.resumed"), "{:?}", kinds(&events));
    bed.service.shutdown().await;
    assert_eq!(bed.service.at_work(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_without_its_run_is_told_to_stop() {
    let bed = Bed::new().await;
    bed.tools.endless.store(true, Ordering::SeqCst);
    let began = Instant::now();
    let run = bed.start().await;
    bed.tools.began.notified().await;
    bed.service.shutdown().await;
    // The run's future is gone; what blocks hears of it all the same.
    while !bed.tools.stopped.load(Ordering::SeqCst) {
        assert!(began.elapsed() < LIMIT, "it was not told");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let state = bed.service.state(run).await.unwrap();
    assert!(!state.is_finished(), "it goes on at the next start");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undo_goes_on_alone_and_only_once() {
    let bed = Bed::new().await;
    let run = bed.start().await;
    until(&bed.service, run, |body| matches!(body, EventBody::RunFinished { .. })).await;
    bed.tools.began.notified().await;
    let service = bed.service.clone();
    let asks = tokio::spawn(async move { service.undo(run, "ada").await });
    bed.tools.began.notified().await;
    asks.abort();
    let state = bed.service.state(run).await.unwrap();
    assert!(state.undoing.is_some(), "the intent comes first");
    // Longer than a lease: it is renewed.
    for _ in 0..6 {
        let again = bed.service.undo(run, "eve").await.unwrap_err().to_string();
        assert!(again.contains("being undone just now"), "{again}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bed.tools.undo_may_end.notify_one();
    let began = Instant::now();
    while bed.service.state(run).await.unwrap().undone.is_empty() {
        assert!(began.elapsed() < LIMIT, "it was not undone");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let store = &bed.service.deps().store;
    let stored = store.events(TenantId::DEFAULT, run, 0, 1000).await.unwrap();
    let events: Vec<_> = stored.into_iter().map(|stored| stored.event).collect();
    let kinds = kinds(&events);
    assert!(kinds.ends_with(&["tool.undoing", "tool.undone"]), "{kinds:?}");
    assert_eq!(bed.tools.undos.load(Ordering::SeqCst), 1);
    bed.service.shutdown().await;
}
