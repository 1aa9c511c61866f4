use crate::fakes::{Bench, call, scope};
use serde::Deserialize;
use serde_json::json;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use steward_core::hash;
use steward_core::policy::RiskClass;
use steward_core::ports::{Authorized, Tools as _};
use steward_core::tool::{EffectClass, ToolError, ToolOutput, ToolSpec, Undo};
use steward_tools::{Context, Dispatcher, ToolHandler, ToolsError};

/// Does what its argument says.
struct Odd {
    effect: EffectClass,
    effects: Arc<AtomicU64>,
}

#[derive(Deserialize)]
struct OddArgs {
    how: String,
}

impl ToolHandler for Odd {
    type Args = OddArgs;

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "odd".into(),
            description: "A tool for tests.".into(),
            parameters: json!({
                "type": "object",
                "properties": {"how": {"type": "string", "minLength": 1}},
                "required": ["how"],
                "additionalProperties": false
            })
            .into(),
            effect: self.effect,
            risk: RiskClass::Read,
            sends_out: false,
            utterances: Arc::default(),
            result_limit: 100,
            skill: None,
        }
    }

    async fn run(&self, args: OddArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        match args.how.as_str() {
            "panic" => panic!("it went wrong"),
            "hang" => pending().await,
            "polite" => {
                while !context.halted() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
                self.effects.fetch_add(1, Ordering::Relaxed);
                Ok(ToolOutput::text("ended by itself"))
            }
            "say nothing" => Ok(ToolOutput::text(" \n")),
            other => Ok(ToolOutput::text(other)),
        }
    }
}

fn odd(effect: EffectClass) -> Odd {
    Odd { effect, effects: Arc::default() }
}

fn one(effect: EffectClass) -> Dispatcher {
    Dispatcher::builder().with(odd(effect)).build().unwrap()
}

fn authorized(how: &str) -> Authorized {
    let arguments = json!({"how": how});
    Authorized {
        stage: None,
        args_hash: hash::of_json(&arguments),
        call: call("odd", arguments),
        idempotency_key: "k".into(),
    }
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let twice = Dispatcher::builder().with(odd(EffectClass::Read)).with(odd(EffectClass::Write)).build();
    assert!(matches!(twice, Err(ToolsError::Duplicate(name)) if name == "odd"));
}

#[tokio::test]
async fn unknown_tools_bad_arguments_and_changed_arguments() {
    let bench = Bench::new();
    let error = bench.refused("frobnicate", json!({})).await;
    assert!(error.contains("there is no tool `frobnicate`") && error.contains("grep"), "{error}");
    let error = bench.refused("read", json!({"path": "x", "lines": "five"})).await;
    assert!(error.contains("`lines`"), "{error}");
    let error = bench.refused("read", json!({"path": "x", "lines": 2001})).await;
    assert!(error.contains("`lines`") && error.contains("2000"), "{error}");
    let error = bench.refused("read", json!({"path": "x", "surprise": 1})).await;
    assert!(error.contains("surprise"), "{error}");
    let error = bench.refused("read", json!({})).await;
    assert!(error.contains("path"), "{error}");
    let error = bench.refused("read", json!("x")).await;
    assert!(error.contains("JSON object"), "{error}");

    let mut changed = authorized("approved");
    changed.call.arguments = json!({"how": "other"});
    let tools = one(EffectClass::Write);
    let done = tools.run(changed, &scope(".".into())).await;
    assert!(matches!(done, Err(ToolError::Fatal(message)) if message.contains("changed after")));
}

#[tokio::test]
async fn a_panic_is_fatal_and_contained() {
    let tools = one(EffectClass::Read);
    let scope = scope(".".into());
    let done = tools.run(authorized("panic"), &scope).await;
    assert!(matches!(done, Err(ToolError::Fatal(message)) if message.contains("it went wrong")));
    assert_eq!(tools.run(authorized("fine"), &scope).await.unwrap().content, "fine");
}

#[tokio::test]
async fn an_empty_answer_is_told_in_words() {
    let done = one(EffectClass::Read).run(authorized("say nothing"), &scope(".".into())).await.unwrap();
    assert_eq!(done.content, "(The tool answered nothing: its output is empty.)");
}

#[tokio::test]
async fn deadline_and_stop_end_a_call() {
    let tools = one(EffectClass::Read);
    let mut scope = scope(".".into());
    scope.timeout_ms = 100;
    let began = Instant::now();
    let error = tools.run(authorized("hang"), &scope).await.unwrap_err().to_string();
    assert!(error.contains("100 ms"), "{error}");
    scope.timeout_ms = 600_000;
    let stop = scope.cancellation.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop.cancel();
    });
    let error = tools.run(authorized("hang"), &scope).await.unwrap_err().to_string();
    assert!(error.contains("the run was stopped"), "{error}");
    let error = tools.run(authorized("fine"), &scope).await.unwrap_err().to_string();
    assert!(error.contains("the run was stopped"), "{error}");
    assert!(began.elapsed() < Duration::from_mins(5));
}

#[tokio::test]
async fn a_change_under_way_is_awaited_or_called_unsettled() {
    let handler = odd(EffectClass::Write);
    let effects = handler.effects.clone();
    let tools = Dispatcher::builder().with(handler).build().unwrap();
    let mut scope = scope(".".into());
    scope.timeout_ms = 100;
    let done = tools.run(authorized("polite"), &scope).await.unwrap();
    assert_eq!((done.content.as_str(), effects.load(Ordering::Relaxed)), ("ended by itself", 1));
    let error = tools.run(authorized("hang"), &scope).await.unwrap_err().to_string();
    assert!(error.contains("may or may not have taken effect"), "{error}");
}

#[tokio::test]
async fn undo_of_nothing_and_previews_of_bad_calls() {
    let bench = Bench::new();
    let impossible = Undo::Impossible { reason: "sent already".into() };
    let error = bench.tools.undo(&impossible, &bench.scope).await.unwrap_err();
    assert!(error.to_string().contains("sent already"));
    let snapshot = |tool: &str| Undo::Snapshot { tool: tool.into(), snapshot: json!({"x": 1}) };
    let error = bench.tools.undo(&snapshot("nothing"), &bench.scope).await.unwrap_err();
    assert!(error.to_string().contains("there is no tool"));
    let error = bench.tools.undo(&snapshot("list"), &bench.scope).await.unwrap_err();
    assert!(error.to_string().contains("can't be undone"));
    for tool in ["write", "notes_create", "reminders_create", "save_memory", "mail_draft"] {
        let error = bench.tools.undo(&snapshot(tool), &bench.scope).await.unwrap_err();
        assert!(error.to_string().contains("can't be read"), "{tool}: {error}");
    }
    assert!(bench.preview("nothing", json!({})).await.summary.contains("would fail"));
    assert!(bench.preview("write", json!({"path": "a"})).await.summary.contains("content"));
    assert_eq!(bench.preview("list", json!({})).await.summary, "changes nothing");
}
