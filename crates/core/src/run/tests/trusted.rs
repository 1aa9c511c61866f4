//! Nothing is done in the place of a trusted model.

use super::driver::{Driver, ok};
use crate::agent::PlanStyle;
use crate::deep::{DeepSettings, StepEnd};
use crate::event::{EventBody, Mode, Noticed, Setup, ToolResult};
use crate::model::{Capabilities, Purpose};
use crate::receipts::Verdict;
use crate::run::{AnswerFrom, Effect};
use crate::tool::{CallSource, PLAN, ToolCall};
use serde_json::json;

fn trusted(setup: &mut Setup) {
    setup.capabilities =
        Capabilities { trusted: true, plans: false, summarises: false, ..Capabilities::default() }.in_force();
}

fn deep(setup: &mut Setup) {
    trusted(setup);
    setup.input = "Look at the notes and then put a summary into the file".into();
    setup.deep = Some(DeepSettings { max_steps: 6, style: PlanStyle::Structured });
}

fn ends_with(wanted: &[Effect], text: &str) {
    let [Effect::Finish { answer, .. }] = wanted else {
        panic!("{wanted:?}");
    };
    assert_eq!(*answer, AnswerFrom::Text(text.into()));
}

#[test]
fn its_words_are_never_corrected() {
    let (mut run, _) = Driver::start(Mode::Loop, trusted);
    run.noticed = Noticed { claim: Some("I have put it there".into()), ..Noticed::default() };
    ends_with(&run.replied("I have put it there.", &[]), "I have put it there.");
    run.finished();
}

#[test]
fn its_answer_is_never_thrown_away() {
    let (mut run, _) = Driver::start(Mode::Loop, trusted);
    run.replied("", &[("a", "look")]);
    run.intent("a");
    run.result("a", "look", ok("seen"));
    ends_with(&run.replied("It is 7.", &[]), "It is 7.");
    run.finished();
}

#[test]
fn it_plans_by_a_tool_and_pays_no_call_for_it() {
    let (mut run, wanted) = Driver::start(Mode::Loop, deep);
    assert_eq!(wanted, [Effect::CallModel(Purpose::Reply)], "no forced plan");
    assert!(run.state.offered().iter().any(|spec| spec.name == PLAN));
    run.asked();
    let call = ToolCall {
        id: "p".into(),
        name: PLAN.into(),
        arguments: json!({"steps": [{"goal": "look", "tool": "look"}, {"goal": "put", "tool": "put", "depends_on": [1]}]}),
        source: CallSource::Native,
        confidence: 1.0,
        signature: None,
    };
    let wanted = run.on(EventBody::ModelResponded {
        step: 1,
        purpose: Purpose::Reply,
        text: String::new(),
        raw: String::new(),
        reasoning: String::new(),
        calls: vec![call],
        diagnostics: vec![],
        finish: "tool_calls".into(),
        usage: crate::model::Usage::default(),
        answered: None,
        noticed: Noticed::default(),
    });
    let [Effect::DeepOwn { steps, .. }] = &wanted[..] else {
        panic!("{wanted:?}");
    };
    assert_eq!((steps.len(), &steps[1].depends_on[..]), (2, &[1][..]));
    run.on(EventBody::DeepPlanned {
        steps: steps.clone(),
        style: PlanStyle::Structured,
        by: "model".into(),
        notes: vec![],
    });
    let wanted = run.on(EventBody::ToolResult {
        call_id: "p".into(),
        tool: PLAN.into(),
        result: ToolResult::text("noted"),
        ms: 0,
        evidence: None,
    });
    assert_eq!(wanted, [Effect::CallModel(Purpose::Reply)]);
    assert!(!run.state.has_acted(), "a plan is no deed");
    run.replied("", &[("a", "look")]);
    run.intent("a");
    let wanted = run.result("a", "look", ok("seen"));
    let [Effect::DeepStep(judged)] = &wanted[..] else {
        panic!("{wanted:?}");
    };
    assert_eq!((judged.number, judged.end), (1, StepEnd::Done));
    run.on(EventBody::DeepStepEnded {
        number: 1,
        status: StepEnd::Done,
        why: String::new(),
        call_id: Some("a".into()),
    });
    // It ends without the second step: that is noted, and no further call is asked for.
    let wanted = run.replied("Seen.", &[]);
    let [Effect::DeepStep(judged)] = &wanted[..] else {
        panic!("{wanted:?}");
    };
    assert_eq!((judged.number, judged.end), (2, StepEnd::Skipped));
    let wanted = run.on(EventBody::DeepStepEnded {
        number: 2,
        status: StepEnd::Skipped,
        why: judged.why.clone(),
        call_id: None,
    });
    ends_with(&wanted, "Seen.");
    run.finished();
}

#[test]
fn who_is_not_trusted_gets_no_tool_for_plans() {
    let (run, _) = Driver::start(Mode::Loop, |setup| {
        deep(setup);
        setup.capabilities.trusted = false;
    });
    assert!(run.state.offered().iter().all(|spec| spec.name != PLAN));
}

fn verdict(run: &mut Driver) -> Verdict {
    run.finished();
    let Some(EventBody::RunFinished { receipts: Some(receipts), .. }) = run.log.last().map(|event| event.body.clone())
    else {
        panic!("no receipts");
    };
    receipts.verdict
}

#[test]
fn a_false_claim_is_marked_only_where_a_tool_could_have_done_it() {
    let asked = |setup: &mut Setup| {
        trusted(setup);
        setup.input = "Delete old.log".into();
    };
    let (mut run, _) = Driver::start(Mode::Loop, asked);
    run.replied("I deleted old.log.", &[]);
    assert_eq!(verdict(&mut run), Verdict::Unverified);
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        asked(setup);
        setup.tools = setup.tools.iter().filter(|spec| spec.name == "feedback").cloned().collect();
    });
    run.replied("I deleted old.log.", &[]);
    assert_eq!(verdict(&mut run), Verdict::NoClaims);
}

#[test]
fn a_plan_that_is_only_shown_claims_nothing() {
    let (mut run, _) = Driver::start(Mode::PlanOnly, |setup| setup.input = "List files".into());
    run.plan(&[("look", json!({"path": "."}))]);
    assert_eq!(verdict(&mut run), Verdict::NoClaims);
}
