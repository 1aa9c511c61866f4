//! What a no comes to.

use steward_core::approval::Subject;

/// What happens if the answer is no.
pub(super) fn if_denied(subject: &Subject) -> String {
    match subject {
        Subject::Call { call_id, tool, .. } if call_id.starts_with("plan-") => {
            format!("`{tool}` does not run, nor do the steps after it; the agent answers with what it has so far.")
        }
        Subject::Call { tool, .. } => {
            format!("`{tool}` does not run; the agent is told so, with your reason, and goes on without it.")
        }
        Subject::Plan { .. } => {
            "Nothing of the plan runs, and the run ends. To have another plan, say what to change instead.".to_owned()
        }
        Subject::Uncertain { tool, .. } => {
            format!("If it is left out, `{tool}` counts as not done and is not repeated; the agent goes on without it.")
        }
        Subject::Question { .. } => "The agent gets no answer and goes on without one.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::if_denied;
    use serde_json::json;
    use steward_core::approval::Subject;

    #[test]
    fn a_step_of_a_plan_takes_those_after_it_along() {
        let call = |id: &str| -> Subject {
            serde_json::from_value(json!({
                "kind": "call", "call_id": id, "tool": "write", "arguments": {}, "args_hash": "0", "risk": "write",
                "preview": {"summary": "", "reversible": true},
            }))
            .unwrap()
        };
        assert!(if_denied(&call("plan-1-2")).contains("nor do the steps after"));
        assert!(if_denied(&call("s1-0")).contains("goes on without it"));
    }
}
