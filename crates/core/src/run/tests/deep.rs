//! Deep plans, driven by hand-made events.

use super::super::Effect;
use super::driver::{Driver, ok};
use crate::agent::PlanStyle;
use crate::deep::{DeepSettings, DeepStep, StepEnd};
use crate::event::{EventBody, Mode, Setup, ToolResult};
use crate::model::{Purpose, Usage};

const REQUEST: &str = "Look at the notes and then put a summary into the file";

fn multi_step(setup: &mut Setup) {
    setup.input = REQUEST.into();
    setup.deep = Some(DeepSettings { max_steps: 6, style: PlanStyle::Structured });
}

fn step(number: u8, tool: &str, depends_on: &[u8]) -> DeepStep {
    DeepStep {
        number,
        goal: format!("goal {number}"),
        tool: (!tool.is_empty()).then(|| tool.to_owned()),
        depends_on: depends_on.to_vec(),
        risk: String::new(),
        expect: "something".into(),
    }
}

/// The reply to a request for a plan, which is in the log before the plan is.
fn planned(run: &mut Driver, steps: Vec<DeepStep>, reason: Option<&str>) -> Vec<Effect> {
    run.on(EventBody::ModelRequested {
        step: run.state.spent.model_calls + 1,
        purpose: Purpose::Deep,
        model: "m".into(),
        prompt_hash: String::new(),
        prompt: vec![],
        reserved: 10,
        reserved_micros: 0,
    });
    run.on(EventBody::ModelResponded {
        step: 1,
        purpose: Purpose::Deep,
        text: "{}".into(),
        raw: String::new(),
        reasoning: String::new(),
        calls: vec![],
        diagnostics: vec![],
        finish: "stop".into(),
        usage: Usage::default(),
        answered: None,
        noticed: crate::event::Noticed::default(),
    });
    let (style, by, notes) = (PlanStyle::Structured, "model".to_owned(), vec![]);
    run.on(match reason {
        None => EventBody::DeepPlanned { steps, style, by, notes },
        Some(reason) => EventBody::DeepReplanned { steps, style, by, reason: reason.into(), notes },
    })
}

/// Carries out the judgement that is wanted now.
fn judged(run: &mut Driver) -> (u8, StepEnd, Vec<Effect>) {
    let wanted = run.state.next(run.state.last_at);
    let [Effect::DeepStep(judged)] = &wanted[..] else {
        panic!("{wanted:?}");
    };
    let judged = judged.clone();
    let (number, end) = (judged.number, judged.end);
    let effects = run.on(EventBody::DeepStepEnded { number, status: end, why: judged.why, call_id: judged.call_id });
    (number, end, effects)
}

fn failure() -> ToolResult {
    ToolResult::error("the disk is full".to_owned())
}

#[test]
fn only_a_request_of_several_steps_is_planned() {
    let (_, effects) = Driver::start(Mode::Loop, multi_step);
    assert_eq!(effects, [Effect::DeepPlan { reason: None }]);
    let (_, effects) = Driver::start(Mode::Loop, |setup| {
        multi_step(setup);
        setup.input = "What is in the notes?".into();
    });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    let (_, effects) = Driver::start(Mode::Loop, |setup| {
        multi_step(setup);
        setup.deep = None;
    });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
}

#[test]
fn each_observation_is_judged_before_the_next_step() {
    let (mut run, _) = Driver::start(Mode::Loop, multi_step);
    let steps = vec![step(1, "look", &[]), step(2, "look", &[1]), step(3, "", &[2])];
    let effects = planned(&mut run, steps, None);
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    run.replied("", &[("a", "look")]);
    run.intent("a");
    run.result("a", "look", ok("seen"));
    let (number, end, effects) = judged(&mut run);
    assert_eq!((number, end), (1, StepEnd::Done));
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    let plan = run.state.deep.as_ref().unwrap().as_text();
    assert!(plan.contains("1. [done]") && plan.contains("2. [NOW]"), "{plan}");
    run.replied("", &[("b", "look")]);
    run.intent("b");
    run.result("b", "look", ok("seen again"));
    assert_eq!(judged(&mut run).0, 2);
    run.replied("All is done.", &[]);
    // The answer is what the last step asks for.
    assert_eq!(judged(&mut run).0, 3);
    run.finished();
}

#[test]
fn one_failure_may_be_tried_again_two_lead_to_another_plan() {
    let (mut run, _) = Driver::start(Mode::Loop, multi_step);
    planned(&mut run, vec![step(1, "look", &[]), step(2, "", &[1])], None);
    run.replied("", &[("a", "look")]);
    run.intent("a");
    let effects = run.result("a", "look", failure());
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)], "a second try");
    run.replied("", &[("b", "look")]);
    run.intent("b");
    run.result("b", "look", failure());
    let (number, end, effects) = judged(&mut run);
    assert_eq!((number, end), (1, StepEnd::Failed));
    let [Effect::DeepPlan { reason: Some(reason) }] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert!(reason.contains("the disk is full"), "{reason}");
    let reason = reason.clone();
    let effects = planned(&mut run, vec![step(1, "look", &[])], Some(&reason));
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    run.replied("", &[("c", "look")]);
    run.intent("c");
    run.result("c", "look", ok("seen"));
    assert_eq!(judged(&mut run).1, StepEnd::Done);
    run.replied("Done.", &[]);
    run.finished();
}

#[test]
fn after_the_last_plan_the_run_goes_on_without_one() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        multi_step(setup);
        setup.budget.model_calls = 40;
    });
    let mut reason: Option<String> = None;
    for round in 0..3 {
        planned(&mut run, vec![step(1, "look", &[])], reason.as_deref());
        for attempt in 0..2 {
            let id = format!("{round}-{attempt}");
            run.replied("", &[(&id, "look")]);
            run.intent(&id);
            run.result(&id, "look", failure());
        }
        let (_, end, effects) = judged(&mut run);
        assert_eq!(end, StepEnd::Failed);
        reason = match &effects[..] {
            [Effect::DeepPlan { reason: Some(why) }] if round < 2 => Some(why.clone()),
            [Effect::DeepDrop { reason: why }] if round == 2 => Some(why.clone()),
            other => panic!("{other:?}"),
        };
    }
    let effects = run.on(EventBody::DeepReplanned {
        steps: vec![],
        style: PlanStyle::Structured,
        by: "rules".into(),
        reason: reason.unwrap(),
        notes: vec![],
    });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    run.replied("I could not do it.", &[]);
    run.finished();
}

#[test]
fn an_early_end_is_reminded_of_once_then_told_as_left_out() {
    let (mut run, _) = Driver::start(Mode::Loop, multi_step);
    planned(&mut run, vec![step(1, "look", &[]), step(2, "put", &[1])], None);
    let effects = run.replied("Everything is done!", &[]);
    assert_eq!(effects, [Effect::DeepRemind { open: vec![1, 2] }]);
    let effects = run.on(EventBody::DeepReminded { open: vec![1, 2] });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    run.replied("I leave that.", &[]);
    assert_eq!(judged(&mut run).1, StepEnd::Skipped);
    // What needs a step that was left out is left out as well.
    assert_eq!(judged(&mut run).1, StepEnd::Skipped);
    run.finished();
}

#[test]
fn empty_hands_are_no_success() {
    let (mut run, _) = Driver::start(Mode::Loop, multi_step);
    planned(&mut run, vec![step(1, "look", &[])], None);
    for id in ["a", "b"] {
        run.replied("", &[(id, "look")]);
        run.intent(id);
        run.result(id, "look", ok("no matches"));
    }
    let (_, end, effects) = judged(&mut run);
    assert_eq!(end, StepEnd::Failed);
    assert!(matches!(&effects[..], [Effect::DeepPlan { reason: Some(_) }]));
}
