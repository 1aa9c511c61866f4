//! The guard for calls that were guessed, and for those that may derive from outside.
//!
//! Taint is conservative: once a page, a document or a mail is in the prompt, every later decision of the model may follow
//! it, so only what was fixed before is free of it.

use super::state::{RunState, step_call_id};
use crate::approval::Taint;
use crate::event::{Setup, ToolResult};
use crate::plan::Plan;
use crate::policy::{Decision, Grant, GrantScope, RiskClass, ToolRule, Verdict, judge};
use crate::provenance::Provenance;
use crate::tool::{CallSource, ToolCall, ToolSpec};
use crate::{Timestamp, hash};
use serde_json::Value;

impl RunState {
    /// What the policy says of a call. One that was guessed, or that may derive from outside, only
    /// reaches tools that look, unless a person has approved just this call: permissions for more
    /// were given to calls that the agent makes of its own accord.
    pub(super) fn verdict(&self, setup: &Setup, spec: &ToolSpec, call: &ToolCall, now: Timestamp) -> Verdict {
        let spec = &ToolSpec { risk: spec.risk_of(call), ..spec.clone() };
        let rules = self.rules();
        let grants = self.permissions_for(spec, &rules);
        let verdict = judge(&setup.agent.policy, &rules, &grants, spec, call, now);
        let guessed = call.is_guessed() && spec.risk != RiskClass::Read;
        let taint = self.taint_of(spec, call);
        let free = !guessed && taint.is_empty();
        if free || verdict.decision == Decision::Deny || is_allowed_exactly(&grants, call, now) {
            return verdict;
        }
        let why = [guessed.then(|| self.guess_reason(call)), (!taint.is_empty()).then(|| taint_reason(&taint))];
        Verdict { decision: Decision::Ask, reason: why.into_iter().flatten().collect::<Vec<_>>().join("; ") }
    }
}

impl RunState {
    pub(super) fn permissions(&self) -> Vec<Grant> {
        let standing = self.standing.iter().map(|given| &given.grant);
        self.grants.iter().chain(standing).cloned().collect()
    }

    /// Where a data policy asks, only what a person allowed since the run saw the data counts.
    fn permissions_for(&self, spec: &ToolSpec, rules: &[ToolRule]) -> Vec<Grant> {
        if rules.iter().any(|rule| rule.of_data && rule.is_about(spec.risk, spec.takes_data_out())) {
            return self.grants.iter().skip(self.granted_before_data).cloned().collect();
        }
        // One of the two may have given it to the agent for days, and ask for the call now.
        if rules.iter().any(|rule| rule.four_eyes && rule.is_about(spec.risk, spec.takes_data_out())) {
            return self.grants.clone();
        }
        self.permissions()
    }

    /// What a person allowed another run ends where a fork begins to go its own way: it has what its own request and
    /// its agent were given.
    pub(super) fn drop_inherited_permissions(&mut self, seq: u64) {
        if let Some(setup) = &self.setup
            && setup.forked_from.is_some_and(|from| from.seq == seq)
        {
            self.grants.clone_from(&setup.grants);
            self.granted_before_data = self.grants.len();
            self.standing.clone_from(&setup.standing);
        }
    }
}

fn is_allowed_exactly(grants: &[Grant], call: &ToolCall, now: Timestamp) -> bool {
    grants.iter().filter(|grant| grant.until.is_none_or(|until| now < until)).any(|grant| match &grant.scope {
        GrantScope::Call { name, args_hash } => *name == call.name && *args_hash == hash::of_json(&call.arguments),
        _ => false,
    })
}

/// Most sources that a reason names.
const MAX_NAMED_SOURCES: usize = 3;

impl RunState {
    /// Keeps what a result brought from outside. A skill that talks to the outside does so whatever
    /// its result says, its errors included.
    pub(super) fn record_taint(&mut self, call_id: &str, tool: &str, result: &ToolResult) {
        let outside = self
            .tool(tool)
            .and_then(|spec| spec.skill.as_ref())
            .is_some_and(|skill| skill.untrusted || skill.kind.reads_outside());
        let (ToolResult::Ok { origins, .. } | ToolResult::Error { origins, .. }) = result else {
            return;
        };
        // What entered a run below came with its end.
        if self.children.iter().any(|child| child.call_id == call_id) {
            return;
        }
        let unnamed = (origins.is_empty() && outside).then(|| format!("a result of {tool}"));
        self.taint.extend(origins.iter().cloned().chain(unnamed).map(|origin| Taint {
            call_id: call_id.to_owned(),
            tool: tool.to_owned(),
            origin,
        }));
    }

    /// What of outside `call` may derive from, each source once, the latest last. Empty for calls that only look and
    /// send nothing out that the model wrote, and for those that were fixed before anything of outside came in.
    pub fn taint_of(&self, spec: &ToolSpec, call: &ToolCall) -> Vec<Taint> {
        let acts = spec.risk != RiskClass::Read || (spec.takes_data_out() && has_arguments(call));
        if acts && !self.fixed_before(call) { self.sources() } else { Vec::new() }
    }

    /// All that came from outside, each source once, the latest last.
    pub fn sources(&self) -> Vec<Taint> {
        let mut once: Vec<Taint> = Vec::new();
        for one in self.taint.iter().rev() {
            if !once.iter().any(|seen| seen.origin == one.origin) {
                once.push(one.clone());
            }
        }
        once.reverse();
        once
    }

    /// All that a text of this run may derive from.
    pub fn provenance(&self) -> Provenance {
        let mut provenance = Provenance { level: self.classified.clone(), ..Provenance::default() };
        for one in &self.taint {
            provenance.add_origin(&one.origin);
        }
        provenance
    }

    /// A step of a plan that was made before, with exactly the arguments that it had then.
    fn fixed_before(&self, call: &ToolCall) -> bool {
        let Some(state) = &self.plan else {
            return false;
        };
        !state.tainted
            && call.source == CallSource::Plan
            && state.plan.steps.iter().enumerate().any(|(index, step)| {
                step_call_id(state.generation, index) == call.id
                    && step.tool == call.name
                    && step.args == call.arguments
                    && Plan::open_arguments(step).is_empty()
            })
    }
}

/// Whether the model wrote anything into it, names included: a request that is always the same tells its receiver nothing.
fn has_arguments(call: &ToolCall) -> bool {
    match &call.arguments {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn taint_reason(taint: &[Taint]) -> String {
    let mut named: Vec<&str> = taint.iter().rev().take(MAX_NAMED_SOURCES).map(|one| one.origin.as_str()).collect();
    named.dedup();
    let more = taint.len().saturating_sub(MAX_NAMED_SOURCES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("its arguments may derive from {}{more}", named.join(", "))
}
