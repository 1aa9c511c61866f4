use serde_json::json;
use steward_core::approval::{Approval, Subject, Taint};
use steward_core::policy::RiskClass;

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
