//! Which tools a model is offered, and which are deferred until it looks for them.

use super::state::RunState;
use crate::deep;
use crate::event::{Mode, Setup};
use crate::model::Capabilities;
use crate::plan::FINAL_ANSWER;
use crate::prompt::{Carried, Compaction, weigh_tools};
use crate::tool::{PLAN, TOOL_SEARCH, ToolSpec};

/// Name of the tool that asks the user.
pub(super) const FEEDBACK: &str = "feedback";
/// Share of the prompt's room that tools may take before they are narrowed: one in so many.
const TOOL_SHARE: u64 = 4;
/// Tools that a later request of a conversation may bring along unasked.
const MAX_FRESH: usize = 4;

/// Whether a tool only steers the run.
pub fn is_control(name: &str) -> bool {
    matches!(name, FINAL_ANSWER | FEEDBACK | TOOL_SEARCH | PLAN)
}

/// Tokens that the descriptions of tools should take at most.
pub fn room_for_tools(capabilities: &Capabilities) -> u64 {
    let window = capabilities.window;
    let room = window.min(capabilities.prompt_tokens.unwrap_or(window));
    u64::from(room) / TOOL_SHARE
}

pub(super) fn has_too_many_tools(setup: &Setup) -> bool {
    let capabilities = setup.choosing();
    setup.tools.len() > capabilities.max_tools || weigh_tools(&setup.tools) > room_for_tools(capabilities)
}

/// The tool by which a trusted model plans when it sees fit.
pub fn plan_tool(setup: &Setup) -> Option<ToolSpec> {
    let own = setup.tools.iter().any(|spec| spec.name == PLAN);
    let free = setup.capabilities.trusted && setup.mode == Mode::Loop && !own;
    setup.deep.filter(|_| free).map(deep::plan_tool)
}

impl RunState {
    /// Tools that are explained to the model. Within a conversation these stay the same, so that the prompt's beginning
    /// does; else those that the intent filter kept, in catalogue order, with the tools that steer the run.
    pub fn offered(&self) -> Vec<ToolSpec> {
        let Some(setup) = &self.setup else {
            return Vec::new();
        };
        let mut tools = self.kept_tools(setup);
        if !tools.is_empty() {
            tools.extend(plan_tool(setup));
        }
        tools
    }

    fn kept_tools(&self, setup: &Setup) -> Vec<ToolSpec> {
        let Some(kept) = &self.kept else {
            return setup.tools.to_vec();
        };
        if self.continues_conversation() {
            let search = |name: &str| (name == TOOL_SEARCH).then(crate::tool::tool_search);
            let names = setup.carried.offered.iter();
            return names.filter_map(|name| search(name).or_else(|| self.tool(name).cloned())).collect();
        }
        if kept.is_empty() {
            return Vec::new();
        }
        let mut tools: Vec<ToolSpec> = setup
            .tools
            .iter()
            .filter(|spec| {
                kept.iter().any(|ranked| ranked.tool == spec.name)
                    || (setup.choosing().plans && matches!(spec.name.as_str(), FINAL_ANSWER | FEEDBACK))
            })
            .cloned()
            .collect();
        if self.defers() {
            tools.push(crate::tool::tool_search());
        }
        tools
    }

    /// Callable tools that are not explained: those looked for and found, and those that fit a follow-up request.
    pub fn found(&self) -> Vec<ToolSpec> {
        let offered = self.offered();
        let mut found: Vec<ToolSpec> = Vec::new();
        let looked_for = self.fallback.found.iter();
        for name in self.fresh().chain(looked_for.map(String::as_str)) {
            let known = |spec: &ToolSpec| spec.name == name;
            if !offered.iter().any(known)
                && !found.iter().any(known)
                && let Some(spec) = self.tool(name)
            {
                found.push(spec.clone());
            }
        }
        found
    }

    /// Tools that fit the newest request of a conversation and are not explained in it.
    pub fn fresh_tools(&self) -> Vec<ToolSpec> {
        self.fresh().filter_map(|name| self.tool(name).cloned()).collect()
    }

    fn fresh(&self) -> impl Iterator<Item = &str> {
        let carried = self.setup.as_ref().map(|setup| &setup.carried.offered);
        let kept = self.kept.iter().flatten().map(|ranked| ranked.tool.as_str());
        let new = move |name: &&str| {
            !is_control(name)
                && carried.is_some_and(|names| !names.is_empty() && !names.iter().any(|known| known == name))
        };
        kept.filter(new).take(MAX_FRESH)
    }

    /// What the conversation's next run begins its prompts with; tools that were called are explained last.
    pub fn carried(&self) -> Carried {
        let Some(setup) = self.setup.as_deref() else {
            return Carried::default();
        };
        let mut offered = setup.carried.offered.clone();
        if self.kept.is_some() && setup.choosing().plans {
            let called = |spec: &ToolSpec| self.calls.iter().any(|entry| entry.call.name == spec.name);
            let found = self.found().into_iter().filter(called);
            offered = self.kept_tools(setup).into_iter().chain(found).map(|spec| spec.name).collect();
        }
        Carried {
            offered,
            // Places in this run mean nothing in the next; its messages are not in the conversation.
            compaction: Compaction { run_from: 0, cut: 0, ..self.fallback.compaction.clone() },
            own_sections: setup.own_sections.begun_with(&setup.carried.own_sections).clone(),
        }
    }

    /// Whether an earlier run of the conversation chose the tools that are explained.
    fn continues_conversation(&self) -> bool {
        self.setup.as_ref().is_some_and(|setup| !setup.carried.offered.is_empty() && setup.choosing().plans)
    }

    pub fn defers(&self) -> bool {
        let (Some(setup), Some(kept)) = (&self.setup, &self.kept) else {
            return false;
        };
        let explained = |spec: &ToolSpec| {
            if self.continues_conversation() {
                setup.carried.offered.contains(&spec.name)
            } else {
                kept.iter().any(|ranked| ranked.tool == spec.name)
            }
        };
        setup.choosing().plans && setup.tools.iter().filter(|spec| !is_control(&spec.name)).any(|spec| !explained(spec))
    }
}
