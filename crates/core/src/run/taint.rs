//! Taint: what of outside entered a run, and which calls may derive from it. Conservative:
//! once a page, a document or a mail is in the prompt, every later decision of the model may follow
//! it, so only what was fixed before is free of it.

use super::state::{RunState, step_call_id};
use crate::approval::Taint;
use crate::event::ToolResult;
use crate::plan::Plan;
use crate::policy::RiskClass;
use crate::tool::{CallSource, ToolCall, ToolSpec};

/// Most sources that a reason names.
const NAMED: usize = 3;

impl RunState {
    /// Keeps what a result brought from outside. A skill that talks to the outside does so whatever
    /// its result says, its errors included.
    pub(super) fn entered(&mut self, call_id: &str, tool: &str, result: &ToolResult) {
        let outside = self
            .tool(tool)
            .and_then(|spec| spec.skill.as_ref())
            .is_some_and(|skill| skill.untrusted || skill.kind.reads_outside());
        let origin = match result {
            ToolResult::Ok { tainted, origin, .. } if *tainted || outside => origin.clone(),
            ToolResult::Error { origin, .. } if origin.is_some() || outside => origin.clone(),
            _ => return,
        };
        // What entered a run below came with its end.
        if self.children.iter().any(|child| child.call_id == call_id) {
            return;
        }
        self.taint.push(Taint {
            call_id: call_id.to_owned(),
            tool: tool.to_owned(),
            origin: origin.unwrap_or_else(|| format!("a result of {tool}")),
        });
    }

    /// What of outside `call` may derive from, each source once, the latest last. Empty for calls
    /// that only look, and for those that were fixed before anything of outside came in.
    pub fn taint_of(&self, spec: &ToolSpec, call: &ToolCall) -> Vec<Taint> {
        if spec.risk == RiskClass::Read || self.fixed_before(call) {
            return Vec::new();
        }
        self.sources()
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

/// Why a call is asked about, for a person.
pub(super) fn reason(taint: &[Taint]) -> String {
    let mut named: Vec<&str> = taint.iter().rev().take(NAMED).map(|one| one.origin.as_str()).collect();
    named.dedup();
    let more = taint.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("its arguments may derive from {}{more}", named.join(", "))
}
