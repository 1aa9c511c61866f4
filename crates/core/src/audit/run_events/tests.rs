use super::of_event;
use crate::event::{Event, EventBody};
use crate::model::Capabilities;
use crate::run::RunState;
use crate::{RunId, Timestamp, hash};
use serde_json::{Value, json};
use uuid::Uuid;

const RUN: RunId = RunId(Uuid::from_u128(7));

fn started(edit: impl FnOnce(&mut Value)) -> Value {
    let nil = Uuid::nil();
    let tool = |name: &str, risk: &str| {
        json!({
            "name": name, "description": "", "parameters": {"type": "object"}, "effect": "write", "risk": risk,
            "utterances": [], "result_limit": 100,
        })
    };
    let budget = crate::budget::Preset::Agent.budget();
    let mut setup = json!({
        "agent": {"id": nil, "name": "clerk", "instructions": "secret instructions"},
        "tools": [tool("put", "write"), tool("wipe", "destructive")],
        "input": "the secret request", "mode": "loop", "origin": "chat", "asked_by": "ada", "budget": budget,
        "connection": nil, "model": "m", "capabilities": Capabilities::default(), "intent_filter": false,
        "workspace": "/w", "user": Uuid::from_u128(1),
        "source": {"account": "ada@example.org", "origin": "chat", "address": "203.0.113.9"},
    });
    edit(&mut setup);
    json!({"type": "run.started", "v": 1, "setup": setup})
}

fn intent(call: &str, tool: &str) -> Value {
    json!({
        "type": "tool.intent", "call_id": call, "tool": tool, "arguments": {"path": "the secret file"}, "args_hash": "",
        "effect": "write", "idempotency_key": "k",
    })
}

fn source(account: &str) -> Value {
    json!({"account": account, "origin": "api", "address": "198.51.100.7"})
}

fn asked() -> Value {
    let subject = json!({
        "kind": "call", "call_id": "1", "tool": "wipe", "arguments": {"path": "the secret file"}, "args_hash": "h",
        "risk": "destructive", "preview": {"summary": "", "reversible": false},
    });
    let about = json!({"agent": Uuid::nil(), "workspace": "/w", "asked_by": "ada", "reason": ""});
    json!({"type": "approval.requested", "approval_id": Uuid::nil(), "subject": subject, "about": about})
}

/// The entry of the last event: who, where from, what, to what, result, details.
fn entry_of(events: &[Value]) -> Option<(String, Value)> {
    let mut state = RunState::new(RUN);
    let mut entry = None;
    for (seq, event) in (1..).zip(events) {
        let body: EventBody = serde_json::from_value(event.clone()).unwrap_or_else(|error| panic!("{error}: {event}"));
        entry = of_event(&state, Timestamp(seq), &body, || Uuid::from_u128(9));
        let seq = u64::try_from(seq).unwrap();
        state.apply(&Event { run_id: RUN, seq, at: Timestamp(5), epoch: 1, body });
    }
    entry.map(|entry| {
        assert_eq!((entry.id, entry.run_id), (Uuid::from_u128(9), Some(RUN)));
        assert!(!json!(entry).to_string().contains("secret"), "{entry:?}");
        let from = format!("{} {}", json!(entry.origin), entry.address.as_deref().unwrap_or("-"));
        let user = if entry.actor_id.is_some() { "" } else { "?" };
        let line = format!("{}{user} {from} {} {} {}", entry.actor, entry.action, entry.target, entry.result.as_str());
        (line, json!(entry.detail))
    })
}

fn check(events: &[Value], line: &str, detail: &Value) {
    let (found, facts) = entry_of(events).unwrap_or_else(|| panic!("no entry for {:?}", events.last()));
    assert_eq!(found, line);
    assert_eq!(facts, *detail, "{line}");
}

fn ends(outcome: &Value) -> Vec<Value> {
    let usage = crate::model::Usage::default();
    vec![started(|_| {}), json!({"type": "run.finished", "outcome": outcome, "answer": "secret", "usage": usage})]
}

#[test]
fn a_run_has_its_beginning_and_its_end() {
    let nil = Uuid::nil();
    let detail = json!({"asked_by": "ada", "connection": nil, "mode": "loop", "model": "m"});
    check(&[started(|_| {})], "ada@example.org \"chat\" 203.0.113.9 run.started clerk ok", &detail);
    let below = started(|setup| {
        setup["source"] = json!(null);
        setup["origin"] = json!("delegation");
        setup["parent"] = json!(nil);
    });
    let detail = json!({"connection": nil, "mode": "loop", "model": "m", "parent": nil});
    check(&[below], "ada \"delegation\" - run.started clerk ok", &detail);
    let spent = json!({"cost_micros": 0, "model_calls": 0, "tokens": 0, "tool_calls": 0});
    for (outcome, result, more) in [
        (json!({"status": "completed"}), "ok", json!({})),
        (json!({"status": "failed", "message": "secret"}), "failed", json!({})),
        (json!({"status": "stopped", "by": "bob"}), "stopped", json!({"by": "bob"})),
        (json!({"status": "limited", "limit": "tokens"}), "limited", json!({"limit": "tokens"})),
        (json!({"status": "rejected"}), "refused", json!({})),
    ] {
        let mut detail = spent.clone();
        detail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let line = format!("ada@example.org \"chat\" - run.finished clerk {result}");
        check(&ends(&outcome), &line, &detail);
    }
}

#[test]
fn a_call_is_one_entry_with_the_hash_of_its_arguments() {
    let hash = hash::of_json(&json!({"path": "the secret file"}));
    let result = |result: Value| {
        let mut event = json!({"type": "tool.result", "call_id": "1", "tool": "put", "ms": 3});
        event.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
        vec![started(|_| {}), intent("1", "put"), event]
    };
    let facts = |more: Value| {
        let mut facts = json!({"agent": "clerk", "args_hash": hash, "call_id": "1", "risk": "write"});
        facts.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        facts
    };
    let line = |result: &str| format!("ada@example.org \"chat\" - tool.called put {result}");
    assert_eq!(entry_of(&[started(|_| {}), intent("1", "put")]), None, "an intent alone");
    check(&result(json!({"outcome": "ok", "content": "secret"})), &line("ok"), &facts(json!({"ms": 3})));
    check(
        &result(json!({"outcome": "ok", "content": "secret", "origins": ["x"]})),
        &line("ok"),
        &facts(json!({"ms": 3, "from_outside": true})),
    );
    check(&result(json!({"outcome": "error", "message": "secret"})), &line("failed"), &facts(json!({"ms": 3})));
    check(
        &result(json!({"outcome": "dry", "preview": "secret"})),
        &line("ok"),
        &facts(json!({"ms": 3, "dry_run": true})),
    );
    let uncertain = json!({"type": "tool.uncertain", "call_id": "1", "tool": "put"});
    check(&[started(|_| {}), intent("1", "put"), uncertain], &line("uncertain"), &facts(json!({})));
    let rejected = json!({"type": "tool.rejected", "call_id": "2", "tool": "nonsense", "message": "secret"});
    check(
        &[started(|_| {}), rejected],
        "ada@example.org \"chat\" - tool.called nonsense refused",
        &json!({"agent": "clerk", "call_id": "2"}),
    );
}

#[test]
fn questions_and_answers_name_who_decided_and_from_where() {
    let nil = Uuid::nil();
    let about = |more: Value| {
        let mut facts = json!({
            "agent": "clerk", "args_hash": "h", "call_id": "1", "kind": "call", "risk": "destructive", "tool": "wipe",
        });
        facts.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        facts
    };
    let line = format!("ada@example.org \"chat\" - approval.requested {nil} asked");
    check(&[started(|_| {}), asked()], &line, &about(json!({})));
    let answered = |answer: Value, account: &str| {
        let by = json!({
            "type": "approval.decided", "approval_id": nil, "answer": answer, "by": account, "source": source(account),
        });
        vec![started(|_| {}), asked(), by]
    };
    for (answer, result, more) in [
        (json!({"decision": "approve"}), "ok", json!({"decision": "approve"})),
        (
            json!({"decision": "approve", "grant": {"kind": "tool", "name": "wipe"}, "until": 9}),
            "ok",
            json!({"decision": "approve", "grant": "tool", "until": 9}),
        ),
        (json!({"decision": "deny", "reason": "secret"}), "refused", json!({"decision": "deny"})),
        (json!({"decision": "feedback", "text": "secret"}), "ok", json!({"decision": "feedback"})),
    ] {
        let line = format!("bob@example.org? \"api\" 198.51.100.7 approval.decided {nil} {result}");
        check(&answered(answer, "bob@example.org"), &line, &about(more));
    }
    let line = format!("ada@example.org \"api\" 198.51.100.7 approval.decided {nil} ok");
    check(&answered(json!({"decision": "skip"}), "ada@example.org"), &line, &about(json!({"decision": "skip"})));
}

#[test]
fn what_people_say_to_a_run_is_there_without_their_words() {
    let steered =
        json!({"type": "run.steered", "text": "secret", "by": "bob@example.org", "source": source("bob@example.org")});
    let line = "bob@example.org? \"api\" 198.51.100.7 run.steered clerk ok";
    check(&[started(|_| {}), steered], line, &json!({}));
    let stopped = json!({"type": "run.stop_requested", "by": "bob"});
    check(&[started(|_| {}), stopped], "bob? null - run.stop_requested clerk ok", &json!({}));
    let undo = |kind: &str, more: Value| {
        let mut event = json!({"type": kind, "call_id": "1"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        vec![started(|_| {}), intent("1", "put"), event]
    };
    let detail = json!({"call_id": "1"});
    check(&undo("tool.undoing", json!({"by": "bob"})), "bob? null - tool.undo put asked", &detail);
    check(&undo("tool.undone", json!({"by": "bob", "summary": ""})), "bob? null - tool.undo put ok", &detail);
    check(&undo("tool.undo_failed", json!({"message": ""})), "steward? null - tool.undo put failed", &detail);
}

#[test]
fn the_rest_of_the_log_is_no_entry() {
    for event in [
        json!({"type": "run.queued", "at_work": 3}),
        json!({"type": "run.resumed", "node": "n"}),
        json!({"type": "model.delta", "step": 1, "purpose": "reply", "text": "x"}),
        json!({"type": "of.a.newer.program"}),
    ] {
        assert_eq!(entry_of(&[started(|_| {}), event]), None);
    }
}
