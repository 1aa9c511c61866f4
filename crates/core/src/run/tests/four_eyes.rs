//! What only somebody else than who asked may approve.

use super::driver::{Driver, ok};
use crate::approval::{About, Answer};
use crate::event::{Event, EventBody, ForkedFrom, Mode, RequestSource};
use crate::policy::{Decision, RiskClass, ToolRule};
use crate::policy::{Grant, GrantScope, Origin, StandingGrant};
use crate::run::{Effect, Waiting};
use crate::{AgentId, RunId, Timestamp, UserId, hash};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use uuid::Uuid;

fn two_people(risk: RiskClass) -> ToolRule {
    ToolRule {
        name: "two people".into(),
        risks: vec![risk],
        agents: Vec::new(),
        origins: Vec::new(),
        roles: Vec::new(),
        decision: Decision::Ask,
        four_eyes: true,
        of_data: false,
    }
}

/// A run that asks about a plan of these steps.
fn asking(risk: RiskClass, steps: &[(&str, Value)]) -> (Driver, About) {
    let (mut run, _) = Driver::start(Mode::Plan, |setup| setup.rules = vec![two_people(risk)]);
    run.plan(steps);
    run.ask();
    let about = match &run.log[run.log.len() - 1].body {
        EventBody::ApprovalRequested { about, .. } => (**about).clone(),
        other => panic!("{other:?}"),
    };
    (run, about)
}

#[test]
fn a_plan_is_for_two_people_if_any_of_its_steps_is() {
    let look = ("look", json!({"x": "page"}));
    let put = ("put", json!({"x": "a"}));
    let end = ("final_answer", json!({"text": "done"}));
    for (risk, steps, four_eyes) in [
        (RiskClass::Read, vec![look.clone(), end.clone()], true),
        (RiskClass::Read, vec![put.clone(), end.clone()], false),
        (RiskClass::Write, vec![look.clone(), put], true),
        (RiskClass::Write, vec![look, end], false),
    ] {
        let (_, about) = asking(risk, &steps);
        assert_eq!(about.four_eyes, four_eyes, "{risk:?} {steps:?}");
    }
}

#[test]
fn steps_of_an_approved_plan_run() {
    let (mut run, _) = asking(RiskClass::Read, &[("look", json!({"x": "page"}))]);
    let Some(Waiting::Approval { id, .. }) = run.state.waiting.clone() else {
        panic!("{:?}", run.state.waiting);
    };
    let effects = run.decide(id, Answer::Approve { grant: None, until: None });
    assert!(matches!(&effects[..], [Effect::RunTool { .. }]), "{effects:?}");
    run.intent("plan-1-1");
    run.result("plan-1-1", "look", ok("seen"));
}

const ANN: UserId = UserId(Uuid::from_u128(1));
const BOB: UserId = UserId(Uuid::from_u128(2));
const CLARA: UserId = UserId(Uuid::from_u128(3));

fn from(user: UserId) -> RequestSource {
    let account = format!("{user}@example.org");
    RequestSource { account, user: Some(user), origin: Origin::Api, address: None }
}

/// A run of Ann that waits with a call that two people have to look at.
fn waiting_for_two() -> (Driver, crate::ApprovalId) {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        setup.rules = vec![two_people(RiskClass::Write)];
        setup.user = Some(ANN);
    });
    run.replied("", &[("1", "put")]);
    let id = run.ask();
    (run, id)
}

#[track_caller]
fn check(run: &Driver, askers: &[UserId]) {
    for user in [ANN, BOB, CLARA] {
        assert_eq!(run.state.needs_other_than(Some(user)), askers.contains(&user), "{user}");
    }
    assert!(!run.state.needs_other_than(None), "what nobody asked for, anybody may approve");
}

#[test]
fn whoever_puts_words_into_a_run_has_asked_for_what_it_does() {
    let (mut run, _) = waiting_for_two();
    check(&run, &[ANN]);
    run.on(EventBody::RunSteered { text: "write that".into(), by: "bob".into(), source: Some(Box::new(from(BOB))) });
    check(&run, &[ANN, BOB]);
}

#[test]
fn feedback_and_reasons_are_words_and_a_bare_answer_is_none() {
    for (answer, asked) in [
        (Answer::Feedback { text: "another file".into() }, true),
        (Answer::Deny { reason: Some("use b".into()) }, true),
        (Answer::Deny { reason: None }, false),
        (Answer::Approve { grant: None, until: None }, false),
    ] {
        let (mut run, id) = waiting_for_two();
        run.on(EventBody::ApprovalDecided {
            approval_id: id,
            answer,
            by: "bob".into(),
            source: Some(Box::new(from(BOB))),
        });
        assert_eq!(run.state.askers.contains(&BOB), asked);
    }
}

#[test]
fn a_fork_and_a_run_below_have_the_askers_of_the_one_above() {
    let inherited = BTreeSet::from([ANN, BOB]);
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        setup.rules = vec![two_people(RiskClass::Write)];
        setup.user = Some(CLARA);
        setup.askers = inherited;
        setup.forked_from = Some(ForkedFrom { run: RunId(Uuid::from_u128(9)), seq: 1 });
    });
    run.replied("", &[("1", "put")]);
    run.ask();
    check(&run, &[ANN, BOB, CLARA]);
}

#[test]
fn what_a_run_below_was_told_comes_back_with_its_answer() {
    let (run, _) = waiting_for_two();
    let body = EventBody::RunReturned {
        call_id: "1".into(),
        child: RunId(Uuid::from_u128(9)),
        spent: crate::budget::Spent::default(),
        proved: Vec::new(),
        taint: Vec::new(),
        classified: None,
        askers: BTreeSet::from([BOB]),
    };
    let mut state = run.state.clone();
    state.apply(&Event { run_id: state.run_id, seq: state.last_seq + 1, at: state.last_at, epoch: 1, body });
    assert!(state.needs_other_than(Some(BOB)) && state.needs_other_than(Some(ANN)));
}

#[test]
fn a_permission_of_the_agent_is_no_second_person() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        setup.rules = vec![two_people(RiskClass::Write)];
        setup.user = Some(ANN);
        let scope = GrantScope::Call { name: "put".into(), args_hash: hash::of_json(&json!({"x": "1"})) };
        setup.standing = vec![StandingGrant {
            id: Uuid::nil(),
            agent: AgentId(Uuid::nil()),
            grant: Grant { scope, until: Some(Timestamp(i64::MAX)) },
            by: "ann".into(),
            created_at: Timestamp(0),
        }];
    });
    run.replied("", &[("1", "put")]);
    run.ask();
}

#[test]
fn without_such_a_rule_everybody_decides_on_their_own_runs() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| setup.user = Some(ANN));
    run.replied("", &[("1", "put")]);
    run.ask();
    check(&run, &[]);
}
