//! The gate for guessed calls (TOOL-7).

use super::state::RunState;
use crate::Timestamp;
use crate::event::Setup;
use crate::hash;
use crate::policy::{Decision, Grant, GrantScope, RiskClass, Verdict, judge};
use crate::tool::{ToolCall, ToolSpec};

impl RunState {
    /// What the policy says of a call. A guessed one only reaches tools that look, unless a person
    /// has approved just this call: permissions for more were given to calls that are made.
    pub(super) fn verdict(
        &self,
        setup: &Setup,
        spec: &ToolSpec,
        call: &ToolCall,
        now: Timestamp,
    ) -> Verdict {
        let verdict = judge(&setup.agent.policy, &self.grants, spec, call, now);
        let guessed = self.reads_any() && call.is_guessed() && spec.risk != RiskClass::Read;
        if !guessed || verdict.decision == Decision::Deny || exactly(&self.grants, call, now) {
            return verdict;
        }
        Verdict {
            decision: Decision::Ask,
            reason: self.guess(call),
        }
    }
}

fn exactly(grants: &[Grant], call: &ToolCall, now: Timestamp) -> bool {
    grants
        .iter()
        .filter(|grant| grant.until.is_none_or(|until| now < until))
        .any(|grant| match &grant.scope {
            GrantScope::Call { name, args_hash } => {
                *name == call.name && *args_hash == hash::of_json(&call.arguments)
            }
            _ => false,
        })
}
