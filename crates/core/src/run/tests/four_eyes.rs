//! What only somebody else than who asked may approve.

use super::driver::{Driver, ok};
use crate::approval::{About, Answer};
use crate::event::{EventBody, Mode};
use crate::policy::{Decision, RiskClass, ToolRule};
use crate::run::{Effect, Waiting};
use serde_json::{Value, json};

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
