//! What a run may send out once it has seen data that a policy is about.

use super::driver::{Driver, ok};
use crate::SkillId;
use crate::approval::Answer;
use crate::event::{EventBody, Mode, Setup};
use crate::governance::{Classification, Classified, DataAction, DataPolicy};
use crate::policy::{Decision, Grant, GrantScope, RiskClass};
use crate::run::{Ask, Effect};
use crate::skill::{SkillKind, SkillRef};
use crate::tool::{CallSource, EffectClass, ToolCall, ToolSpec};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

fn post() -> ToolSpec {
    ToolSpec {
        name: "post".into(),
        description: "posts".into(),
        parameters: json!({"type": "object", "properties": {"x": {"type": "string"}}}).into(),
        effect: EffectClass::Write,
        risk: RiskClass::External,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill: None,
    }
}

/// What `Driver::replied` has a call with this id do.
fn just(id: &str) -> GrantScope {
    GrantScope::Call { name: "post".into(), args_hash: crate::hash::of_json(&json!({"x": id})) }
}

fn governed(setup: &mut Setup, action: DataAction, tool: ToolSpec) {
    setup.tools = setup.tools.iter().cloned().chain([tool]).collect();
    setup.data_rules.policies = vec![DataPolicy {
        name: "stays here".into(),
        from: Classification::Confidential,
        action,
        mask_kinds: Vec::new(),
        references: Vec::new(),
    }];
    let scopes = [GrantScope::AllButDestructive, just("2")];
    setup.grants = scopes.into_iter().map(|scope| Grant { scope, until: None }).collect();
}

fn see_the_pay(run: &mut Driver) {
    run.on(EventBody::DataClassified {
        classified: Classified {
            classification: Classification::Confidential,
            label: "people".into(),
            source: "hr/pay.csv".into(),
        },
    });
}

#[test]
fn each_call_waits_for_a_person_whatever_was_granted_before() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| governed(setup, DataAction::AskOutside, post()));
    let effects = run.replied("", &[("1", "post")]);
    assert!(matches!(&effects[..], [Effect::RunTool { .. }]), "granted, and nothing was seen: {effects:?}");
    run.intent("1");
    run.result("1", "post", ok("sent"));
    see_the_pay(&mut run);
    let effects = run.replied("", &[("2", "post"), ("3", "post")]);
    assert!(
        matches!(&effects[..], [Effect::Ask(Ask::Call { reason, .. })] if reason.contains("stays here")),
        "{effects:?}"
    );
    let id = run.ask();
    let effects = run.decide(id, Answer::Approve { grant: Some(just("2")), until: None });
    assert!(matches!(&effects[..], [Effect::RunTool { call, .. }] if call.id == "2"), "{effects:?}");
    run.intent("2");
    let effects = run.result("2", "post", ok("sent"));
    assert!(matches!(&effects[..], [Effect::Ask(Ask::Call { call, .. })] if call.id == "3"), "{effects:?}");
    let again = ToolCall::new("9", "post", json!({"x": "2"}), CallSource::Native);
    let setup = run.state.setup.clone().unwrap();
    let verdict = run.state.verdict(&setup, run.state.tool("post").unwrap(), &again, run.state.last_at);
    assert_eq!(verdict.decision, Decision::Allow, "a person allowed just this after the data was seen");
    run.ask();
}

#[test]
fn what_does_not_send_stays_as_it_was() {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| governed(setup, DataAction::DenyOutside, post()));
    see_the_pay(&mut run);
    let effects = run.replied("", &[("1", "put")]);
    assert!(matches!(&effects[..], [Effect::RunTool { .. }]), "{effects:?}");
}

fn of_kind(kind: SkillKind) -> ToolSpec {
    let skill =
        SkillRef { id: SkillId(Uuid::from_u128(1)), version: 1, kind, untrusted: false, agent: None, request: None };
    ToolSpec { risk: RiskClass::Read, skill: Some(skill), ..post() }
}

#[test]
fn what_sends_is_refused_whatever_its_class() {
    let read = ToolSpec { risk: RiskClass::Read, ..post() };
    let mail = ToolSpec { risk: RiskClass::Destructive, sends_out: true, ..post() };
    for (tool, refused) in [
        (post(), true),
        (mail, true),
        (of_kind(SkillKind::Scrape), true),
        (of_kind(SkillKind::Ssh), true),
        (of_kind(SkillKind::Mcp), true),
        (of_kind(SkillKind::Sql), false),
        (read, false),
    ] {
        let (mut run, _) = Driver::start(Mode::Loop, |setup| {
            setup.agent.policy.destructive = Decision::Allow;
            governed(setup, DataAction::DenyOutside, tool.clone());
        });
        see_the_pay(&mut run);
        let effects = run.replied("", &[("1", "post")]);
        let denied = matches!(&effects[..], [Effect::Reject { message, .. }] if message.contains("stays here"));
        assert_eq!(denied, refused, "{tool:?}: {effects:?}");
    }
}
