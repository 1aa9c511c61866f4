//! A part of the work is another run's.

use super::driver::{Driver, from_outside, ok};
use crate::approval::{Answer, Taint};
use crate::budget::{Limit, Spent};
use crate::event::{EventBody, Mode, Outcome, Proved, Setup};
use crate::model::Purpose;
use crate::policy::{Decision, RiskClass};
use crate::receipts::Verdict;
use crate::run::{Effect, Waiting};
use crate::skill::{SkillKind, SkillRef};
use crate::tool::{EffectClass, Receipt, ToolSpec};
use crate::{RunId, SkillId};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

const CHILD: RunId = RunId(Uuid::from_u128(77));

fn with_helper(setup: &mut Setup) {
    let helper = ToolSpec {
        name: "ask_helper".into(),
        description: "asks".into(),
        parameters: json!({"type": "object", "properties": {"x": {"type": "string"}}}).into(),
        effect: EffectClass::Idempotent,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill: Some(SkillRef {
            untrusted: false,
            id: SkillId(Uuid::from_u128(1)),
            version: 1,
            kind: SkillKind::AgentDelegation,
            agent: Some("helper".into()),
            request: Some("{{x}}".into()),
        }),
    };
    setup.tools = setup.tools.iter().cloned().chain([helper]).collect();
}

/// A run whose first call is delegated.
fn delegated(edit: impl FnOnce(&mut Setup)) -> Driver {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        with_helper(setup);
        edit(setup);
    });
    let effects = run.replied("", &[("1", "ask_helper")]);
    assert!(matches!(&effects[..], [Effect::Delegate { agent, .. }] if agent == "helper"), "{effects:?}");
    run.intent("1");
    let effects = run.on(EventBody::RunDelegated {
        call_id: "1".into(),
        child: CHILD,
        agent: "helper".into(),
        request: "1".into(),
    });
    assert!(effects.is_empty(), "it waits");
    run
}

fn returned(run: &mut Driver, spent: Spent, proved: Vec<Proved>, taint: Vec<Taint>) {
    run.on(EventBody::RunReturned {
        call_id: "1".into(),
        child: CHILD,
        spent,
        proved,
        taint,
        classified: None,
        askers: std::collections::BTreeSet::new(),
    });
}

#[test]
fn it_waits_for_the_child_and_takes_its_result() {
    let mut run = delegated(|_| {});
    assert!(matches!(&run.state.waiting, Some(Waiting::Child(child)) if child.run == CHILD));
    let worked = run.state.spent.wall_ms;
    run.on(EventBody::RunSteered { text: "and quickly".into(), by: "p".into(), source: None });
    assert!(run.state.next(run.state.last_at).is_empty(), "still");
    returned(&mut run, Spent::default(), vec![], vec![]);
    let effects = run.result("1", "ask_helper", ok("seven"));
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    assert_eq!(run.state.spent.wall_ms, worked, "waiting is no work");
    assert_eq!(run.state.messages[2].text, "seven");
    assert_eq!(run.state.children.len(), 1);
}

#[test]
fn what_the_child_spends_is_the_parents() {
    let mut run = delegated(|setup| setup.budget.model_calls = 5);
    let spent = Spent {
        model_calls: 3,
        below: 1,
        tool_calls: 7,
        tokens: 1000,
        cost_micros: 20,
        wall_ms: 900,
        ..Spent::default()
    };
    let before = run.state.spent;
    returned(&mut run, spent, vec![], vec![]);
    let effects = run.result("1", "ask_helper", ok("seven"));
    let now = run.state.spent;
    assert_eq!((now.model_calls, now.below), (1, 4));
    assert_eq!(now.tool_calls, before.tool_calls + 7);
    assert_eq!(now.tokens, before.tokens + 1000);
    assert_eq!(now.wall_ms, before.wall_ms + 900);
    assert_eq!(now.cost_micros, 20);
    assert!(
        matches!(&effects[..], [Effect::Finish { outcome: Outcome::Limited { limit: Limit::ModelCalls, .. }, .. }]),
        "{effects:?}"
    );
    assert_eq!(run.state.usage.prompt_tokens, 5, "its own use is told apart");
}

type Edit<'a> = (&'a dyn Fn(&mut Setup), &'a str);

#[test]
fn too_deep_or_nothing_left_is_told_to_the_model() {
    let edits: [Edit<'_>; 4] = [
        (&|setup| setup.depth = 3, "at most 3 levels"),
        (&|setup| setup.budget.depth = 0, "no further level"),
        (&|setup| setup.budget.model_calls = 2, "nothing left"),
        (&|setup| setup.budget.tokens = 10, "nothing left"),
    ];
    for (edit, why) in edits {
        let (mut run, _) = Driver::start(Mode::Loop, |setup| {
            with_helper(setup);
            edit(setup);
        });
        let effects = run.replied("", &[("1", "ask_helper")]);
        assert!(
            matches!(&effects[..], [Effect::Reject { message, .. }] if message.contains(why)),
            "{why}: {effects:?}"
        );
        run.rejected();
    }
}

#[test]
fn a_policy_can_ask_or_deny_it() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| {
        with_helper(setup);
        setup.agent.policy.tools.insert("ask_helper".into(), Decision::Ask);
    });
    run.replied("", &[("1", "ask_helper")]);
    let id = run.ask();
    let effects = run.decide(id, Answer::Approve { grant: None, until: None });
    assert!(matches!(&effects[..], [Effect::Delegate { .. }]));
}

#[test]
fn a_stop_does_not_wait_for_the_child() {
    let mut run = delegated(|_| {});
    let effects = run.on(EventBody::StopRequested { by: "p".into(), source: None, client_left: false });
    assert!(matches!(&effects[..], [Effect::Finish { outcome: Outcome::Stopped { .. }, .. }]), "{effects:?}");
}

#[test]
fn a_crash_between_leaves_the_wait_and_before_repeats_the_call() {
    let mut run = delegated(|_| {});
    let effects = run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    assert!(effects.is_empty());
    assert!(matches!(run.state.waiting, Some(Waiting::Child(_))));

    let (mut run, _) = Driver::start(Mode::Loop, with_helper);
    run.replied("", &[("1", "ask_helper")]);
    run.intent("1");
    let effects = run.on(EventBody::RunResumed { node: "n".into(), after_stop: false });
    assert!(
        matches!(&effects[..], [Effect::Delegate { idempotency_key, .. }] if idempotency_key.ends_with(":1")),
        "{effects:?}"
    );
}

#[test]
fn the_childs_taint_and_proofs_are_the_parents() {
    let mut run = delegated(|setup| setup.agent.policy.write = Decision::Allow);
    let proof = Proved {
        call_id: "s1-1".into(),
        tool: "write".into(),
        arguments: json!({"path": "report.md"}),
        receipt: Receipt { action: "wrote".into(), object: "report.md".into(), evidence: None },
    };
    let page = Taint { call_id: "s1-0".into(), tool: "web_fetch".into(), origin: "https://example.org".into() };
    returned(&mut run, Spent::default(), vec![proof], vec![page]);
    run.result("1", "ask_helper", from_outside("I wrote report.md.", "https://example.org"));
    assert_eq!(run.state.taint.len(), 1, "{:?}", run.state.taint);
    assert_eq!(run.state.taint[0].call_id, "1");
    assert_eq!(run.state.taint[0].tool, "ask_helper");
    assert_eq!(run.state.proofs()[0].call_id, "1/s1-1");
    let effects = run.replied("", &[("2", "put")]);
    assert!(matches!(&effects[..], [Effect::Ask(_)]), "tainted: {effects:?}");
    let id = run.ask();
    run.decide(id, Answer::Deny { reason: None });
    run.replied("I wrote report.md.", &[]);
    run.finished();
    let EventBody::RunFinished { receipts, .. } = &run.log.last().unwrap().body else { panic!("no end") };
    assert_eq!(receipts.as_ref().unwrap().verdict, Verdict::Verified);
}
