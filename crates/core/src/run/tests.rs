//! The machine driven by hand-made events.

#![allow(clippy::unwrap_used, reason = "tests")]

mod after_stop;
mod deep;
mod delegation;
mod driver;
mod fallback_parsing;
mod forks;
mod four_eyes;
mod replays;
mod sending_out;
mod taint;
mod trusted;

use self::driver::{Driver, ok};
use super::{AnswerFrom, Ask, CallStatus, Effect, receipts_without};
use crate::ApprovalId;
use crate::approval::Answer;
use crate::budget::Limit;
use crate::event::{EventBody, Mode, Outcome, ToolResult};
use crate::model::{Purpose, Usage};
use crate::policy::Decision;
use crate::receipts::Verdict;
use crate::tool::{CallSource, EffectClass, Receipt, ToolCall, Undo};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

#[test]
fn text_means_done() {
    let (mut run, effects) = Driver::start(Mode::Loop, |_| {});
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    let effects = run.replied("hello", &[]);
    assert!(
        matches!(&effects[..], [Effect::Finish { outcome: Outcome::Completed, answer: AnswerFrom::Text(text) }] if text == "hello")
    );
    run.finished();
}

#[test]
fn calls_run_in_order_and_the_model_is_asked_again() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    let effects = run.replied("", &[("1", "look"), ("2", "nothere")]);
    assert!(matches!(&effects[..], [Effect::RunTool { call, .. }] if call.id == "1"));
    assert!(run.intent("1").is_empty());
    let effects = run.result("1", "look", ok("seen"));
    assert!(matches!(&effects[..], [Effect::Reject { message, .. }] if message.contains("there is no tool `nothere`")));
    let effects = run.rejected();
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    assert_eq!(run.state.messages.len(), 4);
    assert_eq!(run.state.messages[2].text, "seen");
}

#[test]
fn a_write_asks_and_the_answer_counts() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    let effects = run.replied("", &[("1", "put")]);
    assert!(matches!(&effects[..], [Effect::Ask(Ask::Call { .. })]));
    let id = run.ask();
    let other = ApprovalId(Uuid::from_u128(9));
    assert!(run.decide(other, Answer::Approve { grant: None, until: None }).is_empty(), "another's answer");
    let effects = run.decide(id, Answer::Approve { grant: None, until: None });
    assert!(matches!(&effects[..], [Effect::RunTool { .. }]));

    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "put")]);
    let id = run.ask();
    let effects = run.decide(id, Answer::Deny { reason: Some("not now".into()) });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    assert!(run.state.messages.last().unwrap().text.contains("not now"));
}

#[test]
fn recovery_depends_on_the_effect_class() {
    for (effect, repeat) in [
        (EffectClass::Read, true),
        (EffectClass::Idempotent, true),
        (EffectClass::Keyed, true),
        (EffectClass::Write, false),
    ] {
        let (mut run, _) = Driver::start(Mode::Loop, |setup| Arc::make_mut(&mut setup.tools)[0].effect = effect);
        run.replied("", &[("1", "look")]);
        run.intent("1");
        let effects = run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
        match &effects[..] {
            [Effect::RunTool { idempotency_key, .. }] => {
                assert!(repeat, "{effect:?}");
                assert!(idempotency_key.ends_with(":1"), "the first one's key");
            }
            [Effect::Settle { idempotency_key, .. }] => {
                assert!(!repeat, "{effect:?}");
                assert!(idempotency_key.ends_with(":1"), "the first one's key");
            }
            other => panic!("{effect:?}: {other:?}"),
        }
    }
}

#[test]
fn an_uncertain_write_is_never_repeated_unasked() {
    let answers = [(Answer::RunAgain, "run"), (Answer::Happened, "ask model"), (Answer::Skip, "ask model")];
    for (answer, expect) in answers {
        let (mut run, _) = Driver::start(Mode::Loop, |setup| {
            Arc::make_mut(&mut setup.tools)[0].effect = EffectClass::Write;
        });
        run.replied("", &[("1", "look")]);
        run.intent("1");
        run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
        run.on(EventBody::ToolUncertain { call_id: "1".into(), tool: "look".into(), why: "changed since".into() });
        let id = run.ask();
        let effects = run.decide(id, answer);
        match &effects[..] {
            [Effect::RunTool { .. }] => assert_eq!(expect, "run"),
            [Effect::CallModel(_)] => assert_eq!(expect, "ask model"),
            other => panic!("{other:?}"),
        }
    }
}

/// A write that was about to happen when its node died.
fn cut_off() -> Driver {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        Arc::make_mut(&mut setup.tools)[0].effect = EffectClass::Write;
    });
    run.replied("", &[("1", "look")]);
    run.intent("1");
    run.on(EventBody::ToolStaged { call_id: "1".into(), tool: "look".into(), staged: Box::default() });
    run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    run
}

#[test]
fn a_write_is_settled_by_what_it_told() {
    let mut run = cut_off();
    let status = &run.state.call("1").unwrap().status;
    assert!(matches!(status, CallStatus::CutOff { staged: Some(_), .. }), "{status:?}");
    // It had happened: nothing more is done, and nobody is asked.
    let effects = run.result("1", "look", ok("done"));
    assert!(matches!(&effects[..], [Effect::CallModel(_)]), "{effects:?}");
    // It had not: it runs again, and what it told before counts no more.
    let mut run = cut_off();
    let Some(Effect::Settle { call, idempotency_key }) = run.state.next(run.state.last_at).pop() else {
        panic!("it is not looked at");
    };
    let effects = run.on(EventBody::ToolIntent {
        call_id: call.id,
        tool: call.name,
        args_hash: crate::hash::of_json(&call.arguments),
        arguments: call.arguments,
        effect: EffectClass::Write,
        idempotency_key,
        evidence: Some("nothing there".into()),
    });
    assert!(effects.is_empty(), "{effects:?}");
    run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    let status = &run.state.call("1").unwrap().status;
    assert!(matches!(status, CallStatus::CutOff { staged: None, .. }), "{status:?}");
}

#[test]
fn a_model_call_cut_off_is_made_again_a_finished_one_is_not() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.asked();
    let effects = run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    run.replied("", &[("1", "look")]);
    let effects = run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    assert!(matches!(&effects[..], [Effect::RunTool { .. }]), "{effects:?}");
}

#[test]
fn a_plan_is_approved_and_its_steps_run() {
    let (mut run, effects) = Driver::start(Mode::Plan, |_| {});
    assert_eq!(effects, [Effect::MakePlan]);
    let effects = run.plan(&[
        ("look", json!({"x": "a"})),
        ("put", json!({"x": ""})),
        ("wipe", json!({"x": "w"})),
        ("final_answer", json!({"text": ""})),
    ]);
    assert_eq!(effects, [Effect::Ask(Ask::Plan)]);
    let id = run.ask();
    let effects = run.decide(id, Answer::Approve { grant: None, until: None });
    assert!(matches!(&effects[..], [Effect::RunTool { call, .. }] if call.id == "plan-1-1"));
    run.intent("plan-1-1");
    let effects = run.result("plan-1-1", "look", ok("found"));
    assert_eq!(effects, [Effect::Fill { index: 1 }]);
    let effects = run.on(EventBody::PlanFilled { index: 1, arguments: Ok(json!({"x": "found"})) });
    assert!(
        matches!(&effects[..], [Effect::Ask(Ask::Call { call, .. })] if call.arguments["x"] == "found"),
        "filled after the approval: asked again"
    );
    let id = run.ask();
    run.decide(id, Answer::Approve { grant: None, until: None });
    run.intent("plan-1-2");
    let effects = run.result("plan-1-2", "put", ok("done"));
    assert!(
        matches!(&effects[..], [Effect::Ask(Ask::Call { call, .. })] if call.name == "wipe"),
        "destructive steps are never bulk-approved"
    );
    let id = run.ask();
    run.decide(id, Answer::Deny { reason: None });
}

#[test]
fn a_step_that_is_refused_leaves_the_others_to_run() {
    let answer = ("final_answer", json!({"text": ""}));
    let unknown = ("nothere", json!({"x": "a"}));
    let placeholder = ("look", json!({"x": "TODO"}));
    for refused in [unknown, placeholder] {
        let (mut run, _) = Driver::start(Mode::Plan, |_| {});
        run.plan(&[("look", json!({"x": "a"})), refused, ("look", json!({"x": "c"})), answer.clone()]);
        let id = run.ask();
        run.decide(id, Answer::Approve { grant: None, until: None });
        run.intent("plan-1-1");
        let effects = run.result("plan-1-1", "look", ok("found"));
        assert!(matches!(&effects[..], [Effect::Reject { call, .. }] if call.id == "plan-1-2"), "{effects:?}");
        let effects = run.rejected();
        assert!(matches!(&effects[..], [Effect::RunTool { call, .. }] if call.id == "plan-1-3"), "{effects:?}");
        run.intent("plan-1-3");
        let effects = run.result("plan-1-3", "look", ok("found"));
        assert_eq!(effects, [Effect::CallModel(Purpose::Answer)], "and the answer says what came of it");
    }
    // An argument that nobody can fill, as without a model; a person who says no to one call.
    let (mut run, _) = Driver::start(Mode::Plan, |_| {});
    run.plan(&[("look", json!({"x": ""})), ("wipe", json!({"x": "b"})), ("look", json!({"x": "c"})), answer]);
    let id = run.ask();
    let effects = run.decide(id, Answer::Approve { grant: None, until: None });
    assert_eq!(effects, [Effect::Fill { index: 0 }]);
    run.on(EventBody::PlanFilled { index: 0, arguments: Err("no model answered".into()) });
    let effects = run.rejected();
    assert!(matches!(&effects[..], [Effect::Ask(Ask::Call { call, .. })] if call.id == "plan-1-2"), "{effects:?}");
}

#[test]
fn documents_are_searched_once_before_the_first_plan() {
    let (_, effects) = Driver::start(Mode::Plan, |_| {});
    assert_eq!(effects, [Effect::MakePlan], "there are none");
    let there = |setup: &mut crate::event::Setup| setup.looked_through.documents = 3;
    let (mut run, effects) = Driver::start(Mode::Plan, there);
    assert_eq!(effects, [Effect::SearchForPlan]);
    let taint =
        crate::approval::Taint { call_id: "reference-1".into(), tool: "documents".into(), origin: "offer.pdf".into() };
    let found = crate::event::PlanSearch {
        queries: vec!["offer".into()],
        by: "model".into(),
        references: Vec::new(),
        looked_through: crate::reference::LookedThrough::default(),
        taint: vec![taint],
    };
    let effects = run.on(EventBody::PlanSearched(Box::new(found)));
    assert_eq!(effects, [Effect::MakePlan]);
    run.plan(&[("put", json!({"x": "a"})), ("final_answer", json!({"text": ""}))]);
    assert!(run.state.plan.as_ref().unwrap().tainted, "the plan may say what a document wants");
    let id = run.ask();
    let effects = run.decide(id, Answer::Feedback { text: "only look".into() });
    assert_eq!(effects, [Effect::MakePlan], "what was found stays known");
    let (_, effects) = Driver::start(Mode::Plan, |setup| {
        there(setup);
        setup.capabilities.plans = false;
    });
    assert_eq!(effects, [Effect::MakePlan], "no model could make anything of it");
}

#[test]
fn feedback_replans_and_no_refuses() {
    let (mut run, _) = Driver::start(Mode::Plan, |_| {});
    run.plan(&[("put", json!({"x": "a"})), ("final_answer", json!({"text": ""}))]);
    let id = run.ask();
    let effects = run.decide(id, Answer::Feedback { text: "only look".into() });
    assert_eq!(effects, [Effect::MakePlan]);
    run.plan(&[("look", json!({"x": "a"})), ("final_answer", json!({"text": ""}))]);
    let id = run.ask();
    let effects = run.decide(id, Answer::Deny { reason: None });
    assert!(matches!(&effects[..], [Effect::Finish { outcome: Outcome::Rejected, .. }]));
}

#[test]
fn stop_ends_it_wherever_it_is() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "put")]);
    run.ask();
    let effects = run.on(EventBody::StopRequested { by: "me".into(), source: None, client_left: false });
    assert!(matches!(&effects[..], [Effect::Finish { outcome: Outcome::Stopped { .. }, .. }]));
}

fn says(text: &str) -> EventBody {
    EventBody::ModelDelta {
        step: 1,
        purpose: Purpose::Reply,
        text: text.into(),
        reasoning: String::new(),
        provisional: false,
        retracts: false,
    }
}

#[test]
fn stop_keeps_what_was_being_said() {
    let cancelled = || EventBody::ModelFailed {
        step: 1,
        purpose: Purpose::Reply,
        error: crate::model::ModelError {
            class: crate::model::ModelErrorClass::Cancelled,
            message: "stopped".into(),
            hint: String::new(),
            detail: None,
            retry_after_ms: None,
            status: None,
        },
        retry_at: None,
        attempts: vec![],
        usage: crate::model::Usage::default(),
    };
    let stop = || EventBody::StopRequested { by: "me".into(), source: None, client_left: false };
    let answer = |effects: &[Effect]| match effects {
        [Effect::Finish { outcome: Outcome::Stopped { .. }, answer }] => answer.clone(),
        other => panic!("{other:?}"),
    };
    let half = AnswerFrom::Text("One, two".into());
    for crashed in [false, true] {
        let (mut run, _) = Driver::start(Mode::Loop, |_| {});
        run.asked();
        run.on(says("One,"));
        run.on(says(" two"));
        run.on(if crashed { EventBody::RunResumed { node: "n".into(), after_stop: false } } else { cancelled() });
        assert_eq!(answer(&run.on(stop())), half, "crashed: {crashed}");
        run.finished();
        assert_eq!(run.state.answer, "One, two");
    }
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.asked();
    run.on(says("One,"));
    run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    run.asked();
    assert_eq!(answer(&run.on(stop())), AnswerFrom::Nothing, "what is asked anew is said anew");
}

#[test]
fn an_effect_that_was_undone_proves_nothing_any_more() {
    let wrote = ToolResult::Ok {
        content: "wrote".into(),
        data: None,
        truncated: false,
        receipt: Some(Receipt { action: "created".into(), object: "a.md".into(), evidence: None }),
        undo: Some(Undo::Snapshot { tool: "put".into(), snapshot: json!({}) }),
        origins: std::collections::BTreeSet::new(),
    };
    for summarises in [true, false] {
        let (mut run, _) = Driver::start(Mode::Loop, |setup| {
            setup.capabilities.summarises = summarises;
            setup.agent.policy.write = Decision::Allow;
        });
        run.replied("", &[("1", "put")]);
        run.intent("1");
        run.result("1", "put", wrote.clone());
        run.replied("I created a.md.", &[]);
        run.finished();
        let EventBody::RunFinished { composed, receipts, .. } = run.log.last().unwrap().body.clone() else {
            panic!("no end");
        };
        assert_eq!(composed, !summarises);
        assert_eq!(receipts.unwrap().verdict, Verdict::Verified, "{summarises}");
        let after = receipts_without(&run.state, "1");
        assert_eq!(after.verdict, Verdict::Unverified, "{summarises}");
        assert!(after.claims[0].calls.is_empty());
        assert!(after.claims[0].why.contains("undone"), "{after:?}");
    }
}

#[test]
fn a_limit_names_itself() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| setup.budget.model_calls = 1);
    let effects = run.replied("", &[("1", "nothere")]);
    assert!(matches!(&effects[..], [Effect::Reject { .. }]));
    let effects = run.rejected();
    assert!(matches!(
        &effects[..],
        [Effect::Finish { outcome: Outcome::Limited { limit: Limit::ModelCalls, .. }, .. }]
    ));
}

#[test]
fn a_message_meanwhile_is_taken_in_at_the_next_step() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.asked();
    run.on(EventBody::RunSteered { text: "also this".into(), by: "me".into(), source: None });
    let effects = run.on(EventBody::ModelResponded {
        step: 1,
        purpose: Purpose::Reply,
        text: "first".into(),
        raw: String::new(),
        reasoning: String::new(),
        calls: vec![],
        diagnostics: vec![],
        finish: "stop".into(),
        usage: Usage::default(),
        answered: None,
        noticed: crate::event::Noticed::default(),
    });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)], "not done yet");
    let asked = run.state.messages_for(Purpose::Reply).into_owned();
    assert_eq!(asked.last().unwrap().text, "also this", "in this very call");
    run.asked();
    assert_eq!(run.state.messages, asked, "the fold takes in the same");
    run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    let effects = run.replied("second", &[]);
    assert!(matches!(&effects[..], [Effect::Finish { .. }]));
    assert!(run.state.messages.iter().any(|message| message.text == "also this"));
}

#[test]
fn a_question_to_the_user_waits_for_the_answer() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        Arc::make_mut(&mut setup.tools)[3].parameters = json!({"type": "object"}).into();
    });
    run.asked();
    let effects = run.on(EventBody::ModelResponded {
        step: 1,
        purpose: Purpose::Reply,
        text: String::new(),
        raw: String::new(),
        reasoning: String::new(),
        calls: vec![ToolCall {
            id: "q".into(),
            name: "feedback".into(),
            arguments: json!({"question": "which one?"}),
            source: CallSource::Native,
            confidence: 1.0,
            signature: None,
        }],
        diagnostics: vec![],
        finish: "stop".into(),
        usage: Usage::default(),
        answered: None,
        noticed: crate::event::Noticed::default(),
    });
    assert!(matches!(&effects[..], [Effect::Ask(Ask::Question { text, .. })] if text == "which one?"));
    let id = run.ask();
    let effects = run.decide(id, Answer::Feedback { text: "the red one".into() });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    assert_eq!(run.state.messages.last().unwrap().text, "the red one");
}

#[test]
fn parked_time_and_the_gap_before_a_resume_do_not_count() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "put")]);
    let before = run.state.spent.wall_ms;
    run.ask();
    run.seq += 1000;
    run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    assert_eq!(run.state.spent.wall_ms, before + 10);
}
