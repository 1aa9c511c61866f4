//! Which tools a model is offered, and which are deferred until it looks for them (TOOL-11).

use super::state::RunState;
use crate::event::{ReadingKind, Setup};
use crate::model::Capabilities;
use crate::plan::FINAL_ANSWER;
use crate::prompt::weigh_tools;
use crate::tool::{TOOL_SEARCH, ToolSpec};

/// Name of the tool that asks the user.
pub(super) const FEEDBACK: &str = "feedback";
/// Share of the prompt's room that tools may take before they are narrowed: one in so many.
const TOOL_SHARE: u64 = 4;

/// Whether a tool only steers the run.
pub fn is_control(name: &str) -> bool {
    matches!(name, FINAL_ANSWER | FEEDBACK | TOOL_SEARCH)
}

/// Tokens that the descriptions of tools should take at most.
pub fn room_for_tools(capabilities: &Capabilities) -> u64 {
    let window = capabilities.window;
    let room = window.min(capabilities.prompt_tokens.unwrap_or(window));
    u64::from(room) / TOOL_SHARE
}

/// Whether the tools have to be narrowed before the model is asked.
pub(super) fn too_many(setup: &Setup) -> bool {
    let capabilities = &setup.capabilities;
    setup.tools.len() > capabilities.max_tools
        || (setup.reading == ReadingKind::Any
            && weigh_tools(&setup.tools) > room_for_tools(capabilities))
}

impl RunState {
    /// Tools that are explained to the model: those that the intent filter kept, in catalogue order,
    /// with the tools that steer the run.
    pub fn offered(&self) -> Vec<ToolSpec> {
        let Some(setup) = &self.setup else {
            return Vec::new();
        };
        let Some(kept) = &self.kept else {
            return setup.tools.clone();
        };
        if kept.is_empty() {
            return Vec::new();
        }
        let mut tools: Vec<ToolSpec> = setup
            .tools
            .iter()
            .filter(|spec| {
                kept.iter().any(|ranked| ranked.tool == spec.name)
                    || (setup.capabilities.plans
                        && matches!(spec.name.as_str(), FINAL_ANSWER | FEEDBACK))
            })
            .cloned()
            .collect();
        if self.defers() {
            tools.push(crate::tool::tool_search());
        }
        tools
    }

    /// Tools that the model looked for and found, besides those that are explained to it.
    pub fn found(&self) -> Vec<ToolSpec> {
        let offered = self.offered();
        self.cascade
            .found
            .iter()
            .filter(|name| !offered.iter().any(|spec| spec.name == **name))
            .filter_map(|name| self.tool(name).cloned())
            .collect()
    }

    /// Whether tools are left out that can be looked for.
    pub fn defers(&self) -> bool {
        let (Some(setup), Some(kept)) = (&self.setup, &self.kept) else {
            return false;
        };
        setup.reading == ReadingKind::Any
            && setup.capabilities.plans
            && setup
                .tools
                .iter()
                .filter(|spec| !is_control(&spec.name))
                .any(|spec| !kept.iter().any(|ranked| ranked.tool == spec.name))
    }
}
