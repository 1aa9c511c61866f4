//! The gate for guessed calls and for those that may derive from outside.

use super::state::RunState;
use super::taint::reason;
use crate::Timestamp;
use crate::event::Setup;
use crate::hash;
use crate::policy::{Decision, Grant, GrantScope, RiskClass, Verdict, judge};
use crate::tool::{ToolCall, ToolSpec};

impl RunState {
    /// What the policy says of a call. One that was guessed, or that may derive from outside, only
    /// reaches tools that look, unless a person has approved just this call: permissions for more
    /// were given to calls that the agent makes of its own accord.
    pub(super) fn verdict(&self, setup: &Setup, spec: &ToolSpec, call: &ToolCall, now: Timestamp) -> Verdict {
        let grants = self.permissions();
        let verdict = judge(&setup.agent.policy, &grants, spec, call, now);
        let guessed = call.is_guessed() && spec.risk != RiskClass::Read;
        let taint = self.taint_of(spec, call);
        let free = !guessed && taint.is_empty();
        if free || verdict.decision == Decision::Deny || exactly(&grants, call, now) {
            return verdict;
        }
        let why = [guessed.then(|| self.guess(call)), (!taint.is_empty()).then(|| reason(&taint))];
        Verdict { decision: Decision::Ask, reason: why.into_iter().flatten().collect::<Vec<_>>().join("; ") }
    }
}

impl RunState {
    /// Permissions in force.
    pub(super) fn permissions(&self) -> Vec<Grant> {
        let standing = self.standing.iter().map(|given| &given.grant);
        self.grants.iter().chain(standing).cloned().collect()
    }

    /// What a person allowed another run ends where a fork begins to go its own way: it has what its own request and
    /// its agent were given.
    pub(super) fn leave_permissions(&mut self, seq: u64) {
        if let Some(setup) = &self.setup
            && setup.forked_from.is_some_and(|from| from.seq == seq)
        {
            self.grants.clone_from(&setup.grants);
            self.standing.clone_from(&setup.standing);
        }
    }
}

fn exactly(grants: &[Grant], call: &ToolCall, now: Timestamp) -> bool {
    grants.iter().filter(|grant| grant.until.is_none_or(|until| now < until)).any(|grant| match &grant.scope {
        GrantScope::Call { name, args_hash } => *name == call.name && *args_hash == hash::of_json(&call.arguments),
        _ => false,
    })
}
