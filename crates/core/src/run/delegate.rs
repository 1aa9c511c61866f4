//! Delegation: the parent waits without a runner; what the child spends and proves counts for the parent.

use super::state::{ChildRun, RunState, Waiting};
use crate::RunId;
use crate::approval::Taint;
use crate::budget::Spent;
use crate::event::{Proved, Setup};
use crate::skill::SkillKind;
use crate::tool::ToolSpec;

/// Most runs below each other, the first one not counted.
pub const MAX_DEPTH: u8 = 3;

impl RunState {
    pub(super) fn child_call(&self) -> Option<&str> {
        match &self.waiting {
            Some(Waiting::Child(child)) => Some(&child.call_id),
            _ => None,
        }
    }

    pub(super) fn record_delegation(&mut self, call_id: &str, run: RunId, agent: &str, request: &str) {
        let child = ChildRun { call_id: call_id.to_owned(), run, agent: agent.to_owned(), request: request.to_owned() };
        self.children.push(child.clone());
        self.waiting = Some(Waiting::Child(child));
    }

    /// What the child took and brought; its result follows.
    pub(super) fn record_child_end(&mut self, call_id: &str, spent: &Spent, proved: &[Proved], taint: &[Taint]) {
        self.spent.below += spent.model_calls + spent.below;
        self.spent.cut_off += spent.cut_off;
        self.spent.tool_calls += spent.tool_calls;
        self.spent.wall_ms += spent.wall_ms;
        self.spent.tokens += spent.tokens;
        self.spent.cost_micros += spent.cost_micros;
        self.proved
            .extend(proved.iter().map(|one| Proved { call_id: format!("{call_id}/{}", one.call_id), ..one.clone() }));
        let tool = self.call(call_id).map_or_else(String::new, |entry| entry.call.name.clone());
        self.taint.extend(taint.iter().map(|one| Taint {
            call_id: call_id.to_owned(),
            tool: tool.clone(),
            origin: one.origin.clone(),
        }));
    }

    pub(super) fn end_wait_for_child(&mut self, call_id: &str) {
        if self.child_call() == Some(call_id) {
            self.waiting = None;
        }
    }

    /// What this run proved with those below it, for the run above.
    pub fn proofs(&self) -> Vec<Proved> {
        self.evidence()
            .into_iter()
            .filter(|one| one.ok && !one.undone)
            .filter_map(|one| {
                Some(Proved {
                    call_id: one.call_id.to_owned(),
                    tool: one.tool.to_owned(),
                    arguments: one.arguments.clone(),
                    receipt: one.receipt?.clone(),
                })
            })
            .collect()
    }
}

/// The agent that a tool stands for; `None` for any other tool.
pub fn delegate_of(spec: &ToolSpec) -> Option<&str> {
    let skill = spec.skill.as_ref()?;
    (skill.kind == SkillKind::AgentDelegation).then(|| skill.agent.as_deref().unwrap_or_default())
}

/// Why this run can't delegate; the model is told.
pub(super) fn refusal(setup: &Setup, spent: &Spent) -> Option<String> {
    if setup.depth >= MAX_DEPTH || setup.budget.depth == 0 {
        return Some(format!(
            "no further agent can be asked from here: this run is at level {} of delegation, and {}; do it with the other tools, or answer with what is missing",
            setup.depth,
            if setup.depth >= MAX_DEPTH {
                format!("at most {MAX_DEPTH} levels are possible")
            } else {
                "its budget has no further level".to_owned()
            }
        ));
    }
    let left = setup.budget.left(spent);
    // One call is kept back for this run's own answer.
    (left.model_calls <= 1 || left.tokens == 0).then(|| {
        "no further agent can be asked: this run has nothing left to spend on it; answer with what there is".to_owned()
    })
}
