//! What a replay notices. That every other log of these tests replays as the same is checked when
//! its driver is dropped.

use super::driver::{Driver, ok};
use crate::approval::Answer;
use crate::event::{Event, EventBody, ForkedFrom, Mode};
use crate::policy::{Decision, Grant, GrantScope};
use crate::run::{Checked, Difference, RunState, check};
use crate::{RunId, Timestamp};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

fn differences(log: &[Event]) -> Vec<Difference> {
    let mut state = RunState::new(RunId(Uuid::nil()));
    let mut found = Vec::new();
    for event in log {
        if let Checked::Differs(difference) = check(&state, event) {
            found.push(difference);
        }
        state.apply(event);
    }
    found
}

/// A run that looks, puts after a yes, and says so.
fn log() -> Vec<Event> {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "look"), ("2", "put"), ("3", "nothere")]);
    run.intent("1");
    run.result("1", "look", ok("seen"));
    let id = run.ask();
    run.decide(id, Answer::Approve { grant: None, until: None });
    run.intent("2");
    run.result("2", "put", ok("put"));
    run.rejected();
    run.replied("All is there.", &[]);
    run.finished();
    run.log.clone()
}

fn edited(edit: impl Fn(&mut EventBody)) -> Vec<Difference> {
    let mut log = log();
    for event in &mut log {
        edit(&mut event.body);
    }
    differences(&log)
}

fn one(found: &[Difference]) -> &Difference {
    assert_eq!(found.len(), 1, "{found:?}");
    &found[0]
}

#[test]
fn another_policy_shows_where_it_would_have_decided_otherwise() {
    let found = edited(|body| {
        if let EventBody::RunStarted { setup, .. } = body {
            Arc::make_mut(setup).agent.policy.write = Decision::Deny;
        }
    });
    assert!(found[0].recorded.starts_with("ask a person about put"), "{found:?}");
    assert!(found[0].now.starts_with("refuse put: the policy"), "{found:?}");
}

#[test]
fn other_arguments_another_message_and_another_answer_are_noticed() {
    let found = edited(|body| match body {
        EventBody::ToolIntent { call_id, arguments, .. } if call_id == "1" => *arguments = json!({"x": "other"}),
        _ => {}
    });
    assert!(one(&found).recorded.contains("other"), "{found:?}");
    let found = edited(|body| {
        if let EventBody::ToolRejected { message, .. } = body {
            "it was wrong".clone_into(message);
        }
    });
    assert!(one(&found).now.contains("there is no tool `nothere`"));
    let found = edited(|body| {
        if let EventBody::RunFinished { answer, .. } = body {
            "Nothing.".clone_into(answer);
        }
    });
    assert!(one(&found).now.contains("“All is there.”"));
    assert!(one(&found).recorded.contains("“Nothing.”"));
}

#[test]
fn a_call_that_was_never_let_through_is_noticed() {
    let log: Vec<Event> =
        log().into_iter().filter(|event| !matches!(event.body, EventBody::ApprovalDecided { .. })).collect();
    let found = differences(&log);
    assert_eq!(found[0].now, "nothing: the run waits");
}

#[test]
fn old_logs_without_receipts_and_inherited_events_are_no_differences() {
    let found = edited(|body| {
        if let EventBody::RunFinished { receipts, .. } = body {
            *receipts = None;
        }
    });
    assert!(found.is_empty(), "{found:?}");
    let mut log = log();
    let last = log.len() as u64;
    if let EventBody::RunStarted { setup, .. } = &mut log[0].body {
        let setup = Arc::make_mut(setup);
        setup.agent.policy.write = Decision::Deny;
        setup.forked_from = Some(ForkedFrom { run: RunId(Uuid::from_u128(8)), seq: last });
    }
    assert!(differences(&log).is_empty());
}

#[test]
fn a_permission_that_has_run_out_lets_no_plan_through() {
    for (until, asks) in [(None, false), (Some(Timestamp(1_000_000)), false), (Some(Timestamp(1)), true)] {
        let (mut run, _) = Driver::start(Mode::Plan, |setup| {
            setup.grants.push(Grant { scope: GrantScope::AllButDestructive, until });
        });
        run.plan(&[("put", json!({"x": "a"})), ("final_answer", json!({"text": ""}))]);
        if asks {
            run.ask();
        } else {
            run.intent("plan-1-1");
        }
    }
}
