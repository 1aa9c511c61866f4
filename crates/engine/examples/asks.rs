//! Measures [`steward_engine::intent`] over a file of requests without a model and without a
//! store: `asks MODEL_DIR SANDBOX_HELPER FILE WORKSPACE [half] [off]`. Tools that only look are
//! run; of the others the arguments are looked at. `steward eval asks` measures the whole.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "a measuring tool"
)]

use async_trait::async_trait;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use steward_core::agent::{Agent, Tuning};
use steward_core::budget::Preset;
use steward_core::event::{Mode, Origin, Setup};
use steward_core::model::Capabilities;
use steward_core::policy::{Policy, RiskClass};
use steward_core::ports::{
    Authorized, BlobError, Blobs, Facts, Note, Reminder, StoreResult, ToolScope, Tools,
};
use steward_core::tool::{CallSource, ToolCall};
use steward_core::{AgentId, ConnectionId, TenantId};
use steward_engine::intent::propose;
use steward_models::embed::LazyMiniLm;
use steward_sandbox::process::Helper;
use steward_testkit::FakeClock;
use steward_tools::{Ports, ToolsConfig, standard};

struct Nothing;

#[async_trait]
impl Facts for Nothing {
    async fn memory(&self, _: TenantId, _: AgentId) -> StoreResult<(String, u64)> {
        Ok((String::new(), 0))
    }
    async fn save_memory(&self, _: TenantId, _: AgentId, _: &str, _: u64) -> StoreResult<()> {
        Ok(())
    }
    async fn save_note(&self, _: TenantId, _: AgentId, _: &Note) -> StoreResult<Option<Note>> {
        Ok(None)
    }
    async fn remove_note(&self, _: TenantId, _: AgentId, _: &str) -> StoreResult<()> {
        Ok(())
    }
    async fn notes(&self, _: TenantId, _: AgentId) -> StoreResult<Vec<Note>> {
        Ok(Vec::new())
    }
    async fn save_reminder(&self, _: TenantId, _: AgentId, _: &Reminder) -> StoreResult<()> {
        Ok(())
    }
    async fn remove_reminder(&self, _: TenantId, _: AgentId, _: &str) -> StoreResult<()> {
        Ok(())
    }
    async fn reminders(&self, _: TenantId, _: AgentId) -> StoreResult<Vec<Reminder>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Blobs for Nothing {
    async fn put(&self, _: Vec<u8>) -> Result<String, BlobError> {
        Ok(String::new())
    }
    async fn get(&self, hash: &str) -> Result<Vec<u8>, BlobError> {
        Err(BlobError::Missing(hash.to_owned()))
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [model, helper, file, workspace] = &arguments[1..5] else {
        panic!("four arguments")
    };
    let off = arguments.iter().any(|a| a == "off");
    let half = arguments.iter().find_map(|a| match a.as_str() {
        "dev" => Some(0),
        "test" => Some(1),
        _ => None,
    });
    let verbose = arguments.iter().any(|a| a == "-v");
    let embedder = LazyMiniLm::new(PathBuf::from(model));
    let ports = Ports {
        facts: Arc::new(Nothing),
        blobs: Arc::new(Nothing),
        clock: Arc::new(FakeClock::default()),
    };
    let config = ToolsConfig {
        web_allow: vec![],
        terminal: steward_tools::terminal::TerminalConfig::default(),
        sandbox_helper: Helper {
            program: PathBuf::from(helper),
            prefix: vec![],
        },
    };
    let tools = standard(config, &ports).unwrap();
    let zero = uuid_zero();
    let setup = |input: &str| Setup {
        agent: Agent {
            id: zero.0,
            name: "a".into(),
            instructions: String::new(),
            tools: vec![],
            connection: None,
            policy: Policy::default(),
            budget: Preset::default(),
            tuning: Tuning::default(),
        },
        tools: tools.catalogue(),
        conversation: None,
        history: vec![],
        memory: String::new(),
        input: input.to_owned(),
        mode: Mode::Plan,
        origin: Origin::Cli,
        asked_by: "me".into(),
        budget: Preset::default().budget(),
        grants: vec![],
        connection: zero.1,
        model: String::new(),
        capabilities: Capabilities::tiny(2048),
        intent_filter: !off,
        workspace: workspace.clone(),
        utc_offset_minutes: 0,
        parent: None,
    };
    let scope = ToolScope {
        tenant: zero.2,
        run: None,
        agent: zero.0,
        conversation: None,
        workspace: Path::new(workspace).canonicalize().unwrap(),
        now: FakeClock::START,
        utc_offset_minutes: 0,
        timeout_ms: 10_000,
        stop: Arc::default(),
    };
    let (mut cases, mut right, mut observed) = (0, 0, 0);
    for (number, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
        if half.is_some_and(|half| number % 2 != half) {
            continue;
        }
        let case: Value = serde_json::from_str(line).unwrap();
        let ask = case["ask"].as_str().unwrap();
        let begun = Instant::now();
        let proposal = propose(ask, &setup(ask), &tools, None, &embedder, &scope)
            .await
            .unwrap();
        let ms = begun.elapsed().as_millis();
        cases += 1;
        let first = proposal.candidates.first().map(|c| c.plan.steps[0].clone());
        let (tool, args) =
            first.map_or(("-".to_owned(), Value::Null), |step| (step.tool, step.args));
        let spec = tools.catalogue().into_iter().find(|spec| spec.name == tool);
        let valid = spec.as_ref().map_or(Err("no tool".to_owned()), |spec| {
            steward_core::schema::validate(&spec.parameters, &args)
        });
        let good = case["tools"].as_array().unwrap().iter().any(|t| *t == tool) && valid.is_ok();
        let want = case["observe"].as_str().unwrap();
        let mut result = String::new();
        if let Some(spec) =
            spec.filter(|spec| spec.risk == RiskClass::Read && spec.name != "feedback")
        {
            let call = ToolCall {
                id: "1".into(),
                name: spec.name,
                arguments: args.clone(),
                source: CallSource::Plan,
                confidence: 1.0,
            };
            let authorized = Authorized {
                args_hash: steward_core::hash::of_json(&args),
                call,
                idempotency_key: "k".into(),
            };
            result = match tools.run(authorized, &scope).await {
                Ok(output) => output.content,
                Err(error) => format!("ERROR {error}"),
            };
        } else {
            result.push_str(&args.to_string());
        }
        let seen = result.contains(want) || tool == "web_fetch";
        right += i32::from(good);
        observed += i32::from(seen && good);
        if verbose || !good || !seen {
            println!(
                "{} {} {ms} ms: {ask}",
                case["id"].as_str().unwrap(),
                match (good, seen) {
                    (true, true) => "ok",
                    (true, false) => "UNSEEN",
                    _ => "WRONG",
                }
            );
            println!(
                "    want {want:?} by {}; {tool} {args} {:?}",
                case["tools"],
                valid.err()
            );
            println!(
                "    -> {}",
                result
                    .chars()
                    .take(200)
                    .collect::<String>()
                    .replace('\n', " / ")
            );
            let ranked: Vec<String> = proposal
                .filtered
                .kept
                .iter()
                .take(5)
                .map(|r| format!("{} {:.2}", r.tool, r.score))
                .collect();
            println!(
                "    filter {} | wants {} | {}",
                ranked.join(", "),
                proposal.filtered.wants_tool,
                proposal.notes.join("; ")
            );
            for c in proposal.candidates.iter().take(4) {
                println!(
                    "      {:.3} {} {} ({})",
                    c.score.fit,
                    c.plan.steps[0].tool,
                    c.plan.steps[0].args,
                    c.plan.steps[0].thought
                );
            }
        }
    }
    println!("{cases} cases, right {right}, observed {observed}");
}

fn uuid_zero() -> (AgentId, ConnectionId, TenantId) {
    let nil = serde_json::json!("00000000-0000-0000-0000-000000000000");
    (
        serde_json::from_value(nil.clone()).unwrap(),
        serde_json::from_value(nil.clone()).unwrap(),
        serde_json::from_value(nil).unwrap(),
    )
}
