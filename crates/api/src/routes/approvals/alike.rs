//! Which entries of the inbox ask the same.

use steward_core::approval::{Subject, Taint};
use steward_core::policy::RiskClass;

/// What a subject is compared by; `None`: each is its own. Whether an interrupted write happened
/// is never the same question for two runs.
pub(super) fn key(subject: &Subject) -> Option<String> {
    match subject {
        Subject::Call {
            tool,
            args_hash,
            taint,
            ..
        } => Some(format!("call {tool} {args_hash}{}", from(taint))),
        Subject::Plan {
            plan_hash, taint, ..
        } => Some(format!("plan {plan_hash}{}", from(taint))),
        Subject::Question { text, .. } => Some(format!("question {}", text.trim())),
        Subject::Uncertain { .. } => None,
    }
}

/// A yes to what the agent wants of its own accord is none to what a page may have told it.
fn from(taint: &[Taint]) -> String {
    taint.iter().fold(String::new(), |mut all, one| {
        all.push_str(" from ");
        all.push_str(&one.origin);
        all
    })
}

/// Whether something in it can't be taken back.
pub(super) fn is_destructive(subject: &Subject) -> bool {
    match subject {
        Subject::Call { risk, .. } => *risk == RiskClass::Destructive,
        Subject::Plan { previews, .. } => previews
            .iter()
            .any(|step| step.risk == RiskClass::Destructive),
        // What was cut off may have been anything.
        Subject::Uncertain { .. } => true,
        Subject::Question { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{is_destructive, key};
    use serde_json::json;
    use steward_core::approval::Subject;

    fn call(tool: &str, hash: &str, id: &str, risk: &str) -> Subject {
        serde_json::from_value(json!({
            "kind": "call", "call_id": id, "tool": tool, "arguments": {}, "args_hash": hash, "risk": risk,
            "preview": {"summary": "s", "reversible": true},
        }))
        .unwrap()
    }

    #[test]
    fn the_same_call_of_two_runs_is_alike() {
        let one = call("write", "1", "a", "write");
        assert_eq!(key(&one), key(&call("write", "1", "b", "write")));
        assert_ne!(key(&one), key(&call("write", "2", "a", "write")));
        assert_ne!(key(&one), key(&call("mail", "1", "a", "write")));
        let cut: Subject = serde_json::from_value(
            json!({"kind": "uncertain", "call_id": "a", "tool": "write", "arguments": {}}),
        )
        .unwrap();
        assert_eq!(key(&cut), None);
    }

    #[test]
    fn one_destructive_step_makes_a_plan_destructive() {
        assert!(is_destructive(&call("rm", "1", "a", "destructive")));
        assert!(!is_destructive(&call("write", "1", "a", "write")));
        let plan = |risk: &str| -> Subject {
            let step =
                json!({"step": 0, "risk": risk, "preview": {"summary": "", "reversible": false}});
            serde_json::from_value(json!({"kind": "plan", "plan_hash": "1", "previews": [step]}))
                .unwrap()
        };
        assert!(is_destructive(&plan("destructive")));
        assert!(!is_destructive(&plan("external")));
    }
}
