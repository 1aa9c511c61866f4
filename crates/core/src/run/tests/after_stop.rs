//! A run whose client left and came back goes on as after a crash.

use super::driver::{Driver, ok};
use crate::event::{EventBody, Mode, ToolResult};
use crate::model::{ModelError, ModelErrorClass, Purpose, Usage};
use crate::run::{CallStatus, Effect};
use crate::tool::EffectClass;
use std::sync::Arc;

fn leave(run: &mut Driver) {
    run.on(EventBody::StopRequested { by: "s".into(), source: None, client_left: true });
    run.finished();
    assert!(run.state.was_left());
}

fn come_back(run: &mut Driver) -> Vec<Effect> {
    let effects = run.on(EventBody::RunResumed { node: "n".into(), after_stop: true });
    assert!(!run.state.is_finished() && !run.state.was_left());
    effects
}

fn with_effect(effect: EffectClass) -> Driver {
    let (mut run, _) = Driver::start(Mode::Loop, |setup| Arc::make_mut(&mut setup.tools)[0].effect = effect);
    run.replied("", &[("1", "look")]);
    run.intent("1");
    run
}

#[test]
fn answered_calls_are_not_made_again() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "look")]);
    run.intent("1");
    run.result("1", "look", ok("seen"));
    run.asked();
    leave(&mut run);
    assert_eq!(come_back(&mut run), [Effect::CallModel(Purpose::Reply)]);
    assert_eq!(run.state.messages.last().unwrap().text, "seen");
}

#[test]
fn a_call_that_the_stop_made_fail_is_repeated_or_looked_at() {
    for (effect, repeat) in [
        (EffectClass::Read, true),
        (EffectClass::Idempotent, true),
        (EffectClass::Keyed, true),
        (EffectClass::Write, false),
    ] {
        let mut run = with_effect(effect);
        let messages = run.state.messages.len();
        run.result("1", "look", ToolResult::error("it was cancelled".into()));
        leave(&mut run);
        let effects = come_back(&mut run);
        let key = match &effects[..] {
            [Effect::RunTool { idempotency_key, .. }] if repeat => idempotency_key,
            [Effect::Settle { idempotency_key, .. }] if !repeat => idempotency_key,
            other => panic!("{effect:?}: {other:?}"),
        };
        assert!(key.ends_with(":1"), "the first one's key: {key}");
        assert_eq!(run.state.messages.len(), messages, "the model sees no error");
    }
}

#[test]
fn what_a_write_told_is_kept() {
    let mut run = with_effect(EffectClass::Write);
    run.on(EventBody::ToolStaged { call_id: "1".into(), tool: "look".into(), staged: Box::default() });
    run.result("1", "look", ToolResult::error("it was cancelled".into()));
    leave(&mut run);
    come_back(&mut run);
    let status = &run.state.call("1").unwrap().status;
    assert!(matches!(status, CallStatus::CutOff { staged: Some(_), .. }), "{status:?}");
}

#[test]
fn an_error_from_before_stays_one() {
    let mut run = with_effect(EffectClass::Write);
    run.result("1", "look", ToolResult::error("there is none".into()));
    run.asked();
    leave(&mut run);
    assert_eq!(come_back(&mut run), [Effect::CallModel(Purpose::Reply)]);
    assert!(matches!(run.state.call("1").unwrap().status, CallStatus::Done(ToolResult::Error { .. })));
}

fn fail(run: &mut Driver, class: ModelErrorClass) {
    run.asked();
    let error = ModelError::new(class, "no", "wait");
    let (attempts, usage) = (Vec::new(), Usage::default());
    run.on(EventBody::ModelFailed { step: 1, purpose: Purpose::Reply, error, retry_at: None, attempts, usage });
    run.finished();
}

#[test]
fn a_run_that_its_model_failed_in_passing_goes_on_after_what_was_done() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.replied("", &[("1", "look")]);
    run.intent("1");
    run.result("1", "look", ok("seen"));
    for _ in 0..2 {
        fail(&mut run, ModelErrorClass::Server);
        assert!(run.state.failed_in_passing() && run.state.may_go_on() && !run.state.was_left());
        assert_eq!(come_back(&mut run), [Effect::CallModel(Purpose::Reply)]);
        assert!(run.state.asked_again && run.state.messages.last().unwrap().text == "seen");
    }
    fail(&mut run, ModelErrorClass::BadRequest);
    assert!(!run.state.may_go_on(), "it would be in vain");
}

#[test]
fn a_run_that_a_person_stopped_does_not_go_on() {
    let (mut run, _) = Driver::start(Mode::Loop, |_| {});
    run.on(EventBody::StopRequested { by: "me".into(), source: None, client_left: false });
    run.finished();
    assert!(!run.state.was_left());
    assert!(run.on(EventBody::RunResumed { node: "n".into(), after_stop: true }).is_empty());
    assert!(run.state.is_finished());
}
