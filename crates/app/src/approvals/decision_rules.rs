use crate::dto::approvals::Decide;
use crate::error::{AppError, AppResult};
use serde_json::json;
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::approval::{Answer, Approval, Subject, Taint};
use steward_core::policy::{Grant, GrantScope, RiskClass};

const LONGEST: Duration = Duration::from_hours(7 * 24);

/// Refuses what can't be; returns the grant to keep beyond the run, if one is wanted.
pub(super) fn check_decision(body: &Decide, subject: &Subject, now: Timestamp) -> AppResult<Option<Grant>> {
    if !body.answer.fits(subject) {
        return Err(AppError::invalid(
            "answer.decision",
            "this answer does not fit what is asked",
            match subject {
                Subject::Call { .. } | Subject::Plan { .. } => "approve, deny or feedback",
                Subject::Uncertain { .. } => "happened, run_again or skip",
                Subject::Question { .. } => "feedback with the answer as `text`, or deny",
            },
        ));
    }
    if body.duplicates && is_destructive(subject) {
        return Err(AppError::invalid(
            "duplicates",
            "what can't be taken back is decided one by one",
            "leave `duplicates` out and decide each entry",
        ));
    }
    if let Answer::Feedback { text } = &body.answer
        && text.trim().is_empty()
    {
        return Err(AppError::invalid(
            "answer.text",
            "the text is empty",
            "say what to change, or answer the question",
        ));
    }
    let (grant, until) = match &body.answer {
        Answer::Approve { grant, until } => (grant.as_ref(), *until),
        _ => (None, None),
    };
    if let Some(scope) = grant {
        covers(scope, subject)?;
    }
    in_time(grant.is_some(), until, body.standing, now)?;
    if !body.standing {
        return Ok(None);
    }
    let (Some(scope), false) = (grant, is_destructive(subject)) else {
        return Err(AppError::invalid(
            "standing",
            "there is no permission that could be kept",
            "approve with `grant` and `until`; what can't be taken back is asked each time",
        ));
    };
    Ok(Some(Grant { scope: scope.clone(), until }))
}

/// A grant of more than what is asked is none that the person was shown.
fn covers(scope: &GrantScope, subject: &Subject) -> AppResult<()> {
    let refused =
        |hint: &str| Err(AppError::invalid("answer.grant", "the grant does not belong to what is asked", hint));
    match (scope, subject) {
        (GrantScope::Tool { name }, Subject::Call { tool, .. }) if name != tool => refused("name the tool of the call"),
        (GrantScope::Call { name, args_hash }, Subject::Call { tool, args_hash: asked, .. })
            if name != tool || args_hash != asked =>
        {
            refused("name the tool of the call and its `args_hash`")
        }
        (GrantScope::Call { .. }, Subject::Plan { .. }) => {
            refused("a plan's approval covers its calls; for more, grant a tool")
        }
        (
            GrantScope::Tool { .. } | GrantScope::AllButDestructive,
            Subject::Call { risk: RiskClass::Destructive, .. },
        ) => refused("no grant covers what can't be taken back; approve this call only"),
        _ => Ok(()),
    }
}

fn in_time(granted: bool, until: Option<Timestamp>, standing: bool, now: Timestamp) -> AppResult<()> {
    let refused = |title: &str| {
        Err(AppError::invalid(
            "answer.until",
            title,
            "give a time in milliseconds since 1970 UTC, for `standing` within 7 days",
        ))
    };
    match until {
        None if standing => refused("a permission beyond the run needs an end"),
        Some(_) if !granted => refused("there is no grant that could end then"),
        Some(until) if until <= now => refused("the permission would have ended already"),
        Some(until) if standing && until > now.plus(LONGEST) => {
            refused("a permission beyond the run lasts 7 days at most")
        }
        _ => Ok(()),
    }
}

/// What an entry is compared by; `None`: each is its own. Whether an interrupted write happened is never the same
/// question for two runs. A yes to one agent in one workspace is none to another, nor to another version of a skill,
/// nor is one to what the agent wants of its own accord one to what a page may have told it.
pub(super) fn dedup_key(row: &Approval) -> Option<String> {
    let asked = match &row.subject {
        Subject::Call { tool, args_hash, risk, taint, .. } => json!([tool, args_hash, risk, origins(taint)]),
        Subject::Plan { plan_hash, previews, taint } => {
            let risks: Vec<_> = previews.iter().map(|step| (step.step, step.risk)).collect();
            json!([plan_hash, risks, origins(taint)])
        }
        Subject::Question { text, .. } => json!([text.trim()]),
        Subject::Uncertain { .. } => return None,
    };
    let about = &row.about;
    Some(json!([about.agent, about.workspace, about.skills, asked]).to_string())
}

fn origins(taint: &[Taint]) -> Vec<&str> {
    taint.iter().map(|one| one.origin.as_str()).collect()
}

pub(super) fn is_destructive(subject: &Subject) -> bool {
    match subject {
        Subject::Call { risk, .. } => *risk == RiskClass::Destructive,
        Subject::Plan { previews, .. } => previews.iter().any(|step| step.risk == RiskClass::Destructive),
        // What was cut off may have been anything.
        Subject::Uncertain { .. } => true,
        Subject::Question { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::check_decision as check;
    use serde_json::{Value, json};
    use steward_core::Timestamp;

    const DAY: i64 = 86_400_000;

    fn call(risk: &str) -> Value {
        json!({"kind": "call", "call_id": "c", "tool": "write", "arguments": {}, "args_hash": "h", "risk": risk, "preview": {"summary": "", "reversible": true}})
    }

    /// `Ok`: whether a standing grant comes of it; `Err`: the field at fault.
    fn decide(subject: &Value, body: Value) -> Result<bool, String> {
        let subject = serde_json::from_value(subject.clone()).unwrap();
        let body = serde_json::from_value(body).unwrap();
        check(&body, &subject, Timestamp(1000)).map(|grant| grant.is_some()).map_err(|error| format!("{error:?}"))
    }

    fn fails(subject: &Value, body: Value, field: &str) {
        let why = decide(subject, body.clone()).unwrap_err();
        assert!(why.contains(&format!("\"{field}\"")), "{body}: {why}");
    }

    #[test]
    fn answers_fit_their_questions() {
        let write = call("write");
        let cut = json!({"kind": "uncertain", "call_id": "c", "tool": "t", "arguments": {}});
        assert_eq!(decide(&write, json!({"answer": {"decision": "approve"}})), Ok(false));
        assert_eq!(decide(&cut, json!({"answer": {"decision": "skip"}})), Ok(false));
        fails(&write, json!({"answer": {"decision": "happened"}}), "answer.decision");
        fails(&cut, json!({"answer": {"decision": "approve"}}), "answer.decision");
        fails(&write, json!({"answer": {"decision": "feedback", "text": " "}}), "answer.text");
    }

    #[test]
    fn grants_are_boxed_in_time_and_scope() {
        let (write, rm) = (call("write"), call("destructive"));
        let body = |scope: Value, until: Option<i64>, standing: bool| {
            let mut answer = json!({"decision": "approve", "grant": scope});
            if let Some(until) = until {
                answer["until"] = json!(until);
            }
            json!({"answer": answer, "standing": standing})
        };
        let tool = json!({"kind": "tool", "name": "write"});
        let exact = json!({"kind": "call", "name": "write", "args_hash": "h"});
        assert_eq!(decide(&write, body(tool.clone(), None, false)), Ok(false));
        assert_eq!(decide(&write, body(tool.clone(), Some(DAY), true)), Ok(true));
        assert_eq!(decide(&write, body(exact.clone(), Some(DAY), true)), Ok(true));
        fails(&write, body(tool.clone(), None, true), "answer.until");
        fails(&write, body(tool.clone(), Some(1000), false), "answer.until");
        fails(&write, body(tool.clone(), Some(8 * DAY), true), "answer.until");
        fails(&write, body(json!({"kind": "tool", "name": "mail"}), None, false), "answer.grant");
        fails(&write, body(json!({"kind": "call", "name": "write", "args_hash": "x"}), None, false), "answer.grant");
        fails(&rm, body(tool, None, false), "answer.grant");
        fails(&rm, body(json!({"kind": "all_but_destructive"}), None, false), "answer.grant");
        fails(&rm, body(exact, Some(DAY), true), "standing");
        fails(&write, json!({"answer": {"decision": "deny"}, "standing": true}), "answer.until");
    }

    #[test]
    fn destructive_calls_are_decided_one_by_one() {
        let body = json!({"answer": {"decision": "approve"}, "duplicates": true});
        assert_eq!(decide(&call("write"), body.clone()), Ok(false));
        fails(&call("destructive"), body, "duplicates");
    }
}

#[cfg(test)]
mod duplicate_tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::{dedup_key, is_destructive};
    use serde_json::{Value, json};
    use steward_core::approval::{Approval, Subject};

    fn call(tool: &str, hash: &str, id: &str, risk: &str) -> Value {
        json!({
            "kind": "call", "call_id": id, "tool": tool, "arguments": {}, "args_hash": hash, "risk": risk,
            "preview": {"summary": "s", "reversible": true},
        })
    }

    /// What an entry of agent `1` in `/w` is compared by, but for what `about` says otherwise.
    fn of(subject: Value, about: Value) -> Option<String> {
        let mut row = json!({
            "id": uuid::Uuid::from_u128(9), "run_id": uuid::Uuid::from_u128(8), "asked_at": 0, "subject": subject,
            "about": {"agent": uuid::Uuid::from_u128(1), "workspace": "/w", "asked_by": "ann", "reason": "r"},
        });
        for (name, value) in about.as_object().unwrap() {
            row["about"][name] = value.clone();
        }
        dedup_key(&serde_json::from_value::<Approval>(row).unwrap())
    }

    #[test]
    fn the_same_call_of_two_runs_is_alike() {
        let write = || call("write", "1", "a", "write");
        let one = of(write(), json!({}));
        assert_eq!(one, of(call("write", "1", "b", "write"), json!({"asked_by": "bob"})));
        assert_ne!(one, of(call("write", "2", "a", "write"), json!({})));
        assert_ne!(one, of(call("mail", "1", "a", "write"), json!({})));
        assert_ne!(one, of(call("write", "1", "a", "destructive"), json!({})));
        let skill =
            |version: u32| json!({"skills": [{"id": uuid::Uuid::from_u128(3), "version": version, "kind": "shell"}]});
        for other in [json!({"agent": uuid::Uuid::from_u128(2)}), json!({"workspace": "/v"}), skill(1)] {
            assert_ne!(one, of(write(), other));
        }
        assert_ne!(of(write(), skill(1)), of(write(), skill(2)));
        let cut = json!({"kind": "uncertain", "call_id": "a", "tool": "write", "arguments": {}});
        assert_eq!(of(cut, json!({})), None);
    }

    #[test]
    fn one_destructive_step_makes_a_plan_destructive() {
        let subject = |value| serde_json::from_value::<Subject>(value).unwrap();
        assert!(is_destructive(&subject(call("rm", "1", "a", "destructive"))));
        assert!(!is_destructive(&subject(call("write", "1", "a", "write"))));
        let plan = |risk: &str| -> Subject {
            let step = json!({"step": 0, "risk": risk, "preview": {"summary": "", "reversible": false}});
            serde_json::from_value(json!({"kind": "plan", "plan_hash": "1", "previews": [step]})).unwrap()
        };
        assert!(is_destructive(&plan("destructive")));
        assert!(!is_destructive(&plan("external")));
    }
}
