//! Words that are no deeds, guesses, calls that can't be read, and tools that are looked for.

use super::driver::{Driver, ok};
use crate::approval::Answer;
use crate::event::{AboutCall, Answered, EventBody, Mode, Noticed, Outcome, Ranked, ToolResult};
use crate::model::{Purpose, Strategy};
use crate::policy::{Decision, Grant, GrantScope};
use crate::receipts::Verdict;
use crate::run::{AnswerFrom, Ask, Effect, receipts_for};
use crate::tool::{CallSource, ToolCall};
use serde_json::json;

fn start() -> Driver {
    Driver::start(Mode::Loop, |_| {}).0
}

fn claims(words: &str) -> Noticed {
    Noticed { claim: Some(words.into()), ..Noticed::default() }
}

/// Commits the correction that is wanted; the form it switches to.
fn correct(run: &mut Driver, wanted: &[Effect]) -> Option<Strategy> {
    let [Effect::Correct { words, message, strategy }] = wanted else {
        panic!("{wanted:?}");
    };
    assert!(message.contains(words.as_str()), "{message}");
    let effects =
        run.on(EventBody::ModelCorrected { words: words.clone(), message: message.clone(), strategy: *strategy });
    assert_eq!(effects, [Effect::CallModel(Purpose::Reply)]);
    *strategy
}

fn guess(source: CallSource, tool: &str) -> ToolCall {
    ToolCall {
        id: "g".into(),
        name: tool.into(),
        arguments: json!({"x": "1"}),
        source,
        confidence: 0.4,
        signature: None,
    }
}

/// A reply with these calls.
fn made(run: &mut Driver, calls: Vec<ToolCall>, noticed: Noticed) -> Vec<Effect> {
    run.asked();
    run.on(EventBody::ModelResponded {
        step: run.state.spent.model_calls,
        purpose: Purpose::Reply,
        text: String::new(),
        raw: String::new(),
        reasoning: String::new(),
        calls,
        diagnostics: vec![],
        finish: "stop".into(),
        usage: crate::model::Usage::default(),
        answered: Some(Box::new(Answered {
            connection: crate::ConnectionId(uuid::Uuid::nil()),
            name: "c".into(),
            provider: None,
            model: "m".into(),
            strategy: Strategy::Native,
            in_thought: false,
            attempts: vec![],
        })),
        noticed,
    })
}

#[test]
fn a_claim_without_a_deed_is_corrected_once_then_the_tools_are_asked() {
    let mut run = start();
    run.noticed = claims("I have put it there");
    let wanted = run.replied("I have put it there.", &[]);
    assert_eq!(correct(&mut run, &wanted), None, "the form is not known");
    assert!(run.state.messages_for(Purpose::Reply).last().unwrap().text.contains("put it there"));
    let wanted = run.replied("Done: I have put it there.", &[]);
    assert_eq!(wanted, [Effect::Dispatch]);
    let effects = run.on(EventBody::IntentDispatched { call: None, note: "nothing was done".into() });
    let [Effect::Finish { outcome, answer }] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(*outcome, Outcome::Completed);
    let AnswerFrom::Text(text) = answer else { panic!("{answer:?}") };
    let receipts = receipts_for(&run.state, answer, text);
    assert_eq!(receipts.verdict, Verdict::Unverified);
    run.finished();
}

#[test]
fn a_promise_that_ends_a_run_is_unverified() {
    let mut run = start();
    run.noticed = claims("I would look there");
    let wanted = run.replied("I would look there.", &[]);
    correct(&mut run, &wanted);
    run.replied("I would look there.", &[]);
    run.on(EventBody::IntentDispatched { call: None, note: "nothing".into() });
    let answer = AnswerFrom::Text("I would look there.".into());
    let receipts = receipts_for(&run.state, &answer, "I would look there.");
    assert_eq!(receipts.verdict, Verdict::Unverified);
    assert!(receipts.claims[0].why.starts_with("no tool "));
    run.finished();
}

#[test]
fn a_true_summary_is_no_false_claim() {
    let mut run = start();
    run.replied("", &[("a", "look")]);
    run.intent("a");
    run.result("a", "look", ok("seen"));
    run.noticed = claims("I have looked");
    let wanted = run.replied("I have looked.", &[]);
    assert!(matches!(&wanted[..], [Effect::Finish { .. }]), "{wanted:?}");
    run.finished();
}

#[test]
fn a_claim_after_a_failed_call_is_told_what_failed_and_nothing_is_proposed_again() {
    let mut run = start();
    run.replied("", &[("a", "look")]);
    run.intent("a");
    run.result("a", "look", ToolResult::error("the server `tracker` answered: no such project".into()));
    run.noticed = claims("I have put it there");
    let wanted = run.replied("I have put it there.", &[]);
    let [Effect::Correct { message, .. }] = &wanted[..] else { panic!("{wanted:?}") };
    assert!(
        message.contains("`look` was called and failed: the server `tracker` answered: no such project."),
        "{message}"
    );
    assert!(!message.contains("no tool has been called"), "{message}");
    correct(&mut run, &wanted);
    let wanted = run.replied("I have put it there.", &[]);
    assert!(matches!(&wanted[..], [Effect::Finish { .. }]), "{wanted:?}");
    run.finished();
}

#[test]
fn nobody_is_pressed_after_a_person_said_no() {
    let mut run = start();
    run.replied("", &[("a", "put")]);
    let id = run.ask();
    run.decide(id, Answer::Deny { reason: None });
    run.noticed = claims("I would have put it there");
    let wanted = run.replied("I would have put it there.", &[]);
    assert!(matches!(&wanted[..], [Effect::Finish { .. }]), "{wanted:?}");
    run.finished();
}

#[test]
fn a_native_model_that_never_called_is_asked_in_text() {
    let mut run = start();
    let wanted = made(&mut run, vec![], claims("Done!"));
    assert_eq!(correct(&mut run, &wanted), Some(Strategy::React));
    assert_eq!(run.state.fallback.strategy, Some(Strategy::React));
}

#[test]
fn a_guess_only_looks_unless_a_person_approves_it() {
    for (source, confidence) in
        [(CallSource::Fuzzy, 0.9), (CallSource::Reasoning, 0.3), (CallSource::Intent, 0.9), (CallSource::React, 0.2)]
    {
        let mut run = Driver::start(Mode::Loop, |setup| {
            setup.agent.policy.write = Decision::Allow;
            setup.grants.push(Grant { scope: GrantScope::AllButDestructive, until: None });
        })
        .0;
        let look = ToolCall { id: "l".into(), confidence, ..guess(source, "look") };
        let put = ToolCall { confidence, ..guess(source, "put") };
        let words = Noticed {
            guessed: vec![AboutCall { call_id: "g".into(), text: "I'll put it".into() }],
            ..Noticed::default()
        };
        let wanted = made(&mut run, vec![look, put], words);
        assert!(matches!(&wanted[..], [Effect::RunTool { .. }]), "{source:?} {wanted:?}");
        run.intent("l");
        let wanted = run.result("l", "look", ok("seen"));
        let [Effect::Ask(Ask::Call { reason, .. })] = &wanted[..] else {
            panic!("{source:?} {wanted:?}");
        };
        assert!(reason.contains("I'll put it") && reason.contains('%'), "{reason}");
        let id = run.ask();
        run.decide(id, Answer::Approve { grant: None, until: None });
        run.intent("g");
    }
}

#[test]
fn a_sure_call_needs_no_more_than_the_policy() {
    let mut run = Driver::start(Mode::Loop, |setup| {
        setup.agent.policy.write = Decision::Allow;
    })
    .0;
    let call = ToolCall { confidence: 0.8, signature: None, ..guess(CallSource::Repaired, "put") };
    let wanted = made(&mut run, vec![call], Noticed::default());
    assert!(matches!(&wanted[..], [Effect::RunTool { .. }]), "{wanted:?}");
}

#[test]
fn a_call_that_cannot_be_read_goes_back_with_the_error_and_the_arguments() {
    let mut run = start();
    let broken = |run: &mut Driver, n: u32| {
        let id = format!("b{n}");
        let call = ToolCall {
            id: id.clone(),
            name: "look".into(),
            arguments: json!("{\"x\": "),
            source: CallSource::Repaired,
            confidence: 0.0,
            signature: None,
        };
        let noticed = Noticed {
            broken: vec![AboutCall { call_id: id, text: "the arguments could not be read".into() }],
            ..Noticed::default()
        };
        made(run, vec![call], noticed)
    };
    let wanted = broken(&mut run, 1);
    let [Effect::Reject { message, .. }] = &wanted[..] else {
        panic!("{wanted:?}");
    };
    assert!(message.contains("could not be read") && message.contains("\"x\""), "{message}");
    let wanted = run.rejected();
    assert_eq!(wanted, [Effect::CallModel(Purpose::Reply)], "asked again");
    broken(&mut run, 2);
    assert_eq!(run.rejected(), [Effect::Dispatch], "then the tools are asked");
    let wanted = run.on(EventBody::IntentDispatched { call: None, note: "nothing".into() });
    assert_eq!(wanted, [Effect::CallModel(Purpose::Reply)], "one more try");
    broken(&mut run, 3);
    let wanted = run.rejected();
    assert!(
        matches!(&wanted[..], [Effect::Finish { outcome: Outcome::Failed { message }, .. }] if message.contains("can't be read")),
        "{wanted:?}"
    );
    run.finished();
}

#[test]
fn deferred_tools_are_looked_for() {
    let mut run = Driver::start(Mode::Loop, |setup| {
        setup.intent_filter = true;
        setup.capabilities.max_tools = 2;
    })
    .0;
    run.on(EventBody::IntentFiltered {
        kept: vec![Ranked { tool: "look".into(), score: 0.9 }],
        offered: 4,
        wants_tool: true,
    });
    let names = |run: &Driver| -> Vec<String> {
        let offered = run.state.offered();
        offered.into_iter().map(|spec| spec.name).collect()
    };
    assert_eq!(names(&run), ["look", "feedback", "tool_search"]);
    let mut call = guess(CallSource::Native, "tool_search");
    call.arguments = json!({"query": "put a thing"});
    let wanted = made(&mut run, vec![call.clone()], Noticed::default());
    assert_eq!(wanted, [Effect::SearchTools { call }]);
    let wanted = run.on(EventBody::ToolsFound {
        call_id: "g".into(),
        query: "put a thing".into(),
        found: vec![Ranked { tool: "put".into(), score: 0.8 }],
        content: "put: puts".into(),
    });
    assert_eq!(wanted, [Effect::CallModel(Purpose::Reply)]);
    assert_eq!(run.state.found()[0].name, "put");
    assert_eq!(names(&run).len(), 3, "what is explained stays as it was");
    assert!(!run.state.has_acted(), "a search is no deed");
}

#[test]
fn tools_that_take_too_much_of_the_window_are_narrowed() {
    let (run, wanted) = Driver::start(Mode::Loop, |setup| {
        setup.intent_filter = true;
        setup.capabilities.window = 512;
    });
    assert_eq!(wanted, [Effect::FilterIntent]);
    drop(run);
}

#[test]
fn a_model_that_cannot_sum_up_is_not_asked_to() {
    let mut run = Driver::start(Mode::Loop, |setup| {
        setup.capabilities.summarises = false;
    })
    .0;
    run.replied("", &[("a", "look")]);
    run.intent("a");
    run.result("a", "look", ok("seen"));
    let wanted = run.replied("Perhaps 7?", &[]);
    assert!(matches!(&wanted[..], [Effect::Finish { answer: AnswerFrom::Observations, .. }]), "{wanted:?}");
    run.finished();
}
