//! Where runs can be forked, and what a fork takes over.

use super::driver::{Driver, ok};
use crate::approval::Answer;
use crate::event::{EventBody, ForkedFrom, Mode, ToolResult};
use crate::model::{ModelError, ModelErrorClass, Purpose};
use crate::run::{ForkPoint, ForkPoints, RunState};
use crate::tool::Undo;
use crate::{RunId, TimerId, Timestamp};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

fn points(run: &Driver) -> Vec<(u64, u32, Purpose)> {
    let mut points = ForkPoints::new(run.state.run_id);
    for event in &run.log {
        points.push(event);
    }
    let (points, state) = points.finish();
    assert_eq!(state, run.state);
    points.into_iter().map(|ForkPoint { seq, step, purpose }| (seq, step, purpose)).collect()
}

#[test]
fn a_loop_can_be_forked_before_each_model_call_and_nowhere_else() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "put"), ("2", "look")]);
    let id = run.ask();
    run.on(EventBody::RunSteered { text: "and be quick".into(), by: "me".into(), source: None });
    run.decide(id, Answer::Approve { grant: None, until: None });
    run.intent("1");
    run.result("1", "put", ok("done"));
    run.intent("2");
    run.result("2", "look", ok("seen"));
    let before = run.seq;
    run.replied("done", &[]);
    run.finished();
    assert_eq!(points(&run), [(1, 1, Purpose::Reply), (before, 2, Purpose::Reply)]);
}

#[test]
fn tries_of_the_same_call_are_no_points() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.asked();
    run.on(EventBody::ModelFailed {
        step: 1,
        purpose: Purpose::Reply,
        error: ModelError {
            class: ModelErrorClass::Server,
            message: "503".into(),
            hint: String::new(),
            detail: None,
            retry_after_ms: None,
            status: None,
        },
        retry_at: Some(Timestamp(50)),
        attempts: Vec::new(),
        usage: crate::model::Usage::default(),
    });
    let timer_id = TimerId(Uuid::from_u128(3));
    run.on(EventBody::TimerSet { timer_id, at: Timestamp(50), purpose: "again".into() });
    run.on(EventBody::TimerFired { timer_id });
    run.asked();
    run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    run.replied("there", &[]);
    assert_eq!(points(&run), [(1, 1, Purpose::Reply)]);
}

#[test]
fn a_plan_can_be_forked_before_it_is_made_and_before_it_is_proposed() {
    let (mut run, _) = Driver::start(Mode::Plan, |_| {});
    run.on(EventBody::ModelRequested {
        step: 1,
        purpose: Purpose::Plan,
        model: "m".into(),
        prompt_hash: String::new(),
        prompt: vec![],
        reserved: 1,
        reserved_micros: 0,
    });
    run.on(EventBody::ModelResponded {
        step: 1,
        purpose: Purpose::Plan,
        text: "[]".into(),
        raw: String::new(),
        reasoning: String::new(),
        calls: vec![],
        diagnostics: vec![],
        finish: "stop".into(),
        usage: crate::model::Usage::default(),
        answered: None,
        noticed: crate::event::Noticed::default(),
    });
    run.plan(&[("look", json!({"x": "a"})), ("final_answer", json!({"text": ""}))]);
    run.ask();
    assert_eq!(points(&run), [(1, 1, Purpose::Plan), (3, 2, Purpose::Plan)]);
}

#[test]
fn what_a_fork_takes_over_is_undone_in_the_other_run() {
    let effect = ToolResult::Ok {
        content: "wrote".into(),
        data: None,
        truncated: false,
        receipt: None,
        undo: Some(Undo::Snapshot { tool: "look".into(), snapshot: json!({}) }),
        origins: std::collections::BTreeSet::new(),
    };
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "look"), ("2", "look")]);
    run.intent("1");
    run.result("1", "look", effect.clone());
    run.intent("2");
    run.result("2", "look", effect);
    run.replied("done", &[]);
    run.finished();
    assert_eq!(run.state.undoable().len(), 2);
    run.on(EventBody::ToolUndone {
        call_id: "1".into(),
        summary: "restored".into(),
        by: "me".into(),
        source: None,
        receipts: None,
    });
    let left: Vec<&str> = run.state.undoable().iter().map(|(call, _)| call.id.as_str()).collect();
    assert_eq!(left, ["2"]);
    let undone: Vec<bool> = run.state.evidence().iter().map(|one| one.undone).collect();
    assert_eq!(undone, [true, false]);

    let mut log = run.log.clone();
    if let EventBody::RunStarted { setup, .. } = &mut log[0].body {
        Arc::make_mut(setup).forked_from = Some(ForkedFrom { run: RunId(Uuid::from_u128(8)), seq: 7 });
    }
    let fork = RunState::fold(run.state.run_id, &log);
    assert!(fork.undoable().is_empty());
    assert_eq!(fork.evidence().len(), 2, "they still prove what they did");
}
