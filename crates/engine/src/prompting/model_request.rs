use crate::prompting::compaction_event::older_messages;
use crate::prompting::instructions::{
    closing_instructions, deep_instructions, deep_schema, list_tools, plan_instructions,
};
use crate::prompting::open_arguments::schema_of_open;
use crate::prompting::search_strings;
use crate::prompting::text_tool_messages::{with_calls_as_text, with_object_arguments, without_system};
use std::fmt::Write as _;
use steward_core::event::Setup;
use steward_core::message::{Message, given_documents};
use steward_core::model::{Capabilities, ModelRequest, Purpose, RequestOptions, Strategy};
use steward_core::plan;
use steward_core::prompt::references_text;
use steward_core::prompt::{OwnSections, Prompt, PromptInput, assemble, brief, skills_text, weigh_tools};
use steward_core::reference::Reference;
use steward_core::run::{RunState, is_control, plan_tool, room_for_tools};
use steward_core::tool::{PLAN, TOOL_SEARCH, ToolSpec, tool_search};
use steward_parse::{Dialects, Form, Reading, StreamParser, ToolIndex, guided, markers_instructions, react};

const COMPACT_PROMPT: &str = include_str!("../../prompts/compact.md");
const SEARCH_PROMPT: &str = include_str!("../../prompts/search.md");

/// Tokens kept for a reply by a window, at least.
const MIN_RESERVE: u32 = 256;
/// Longest small talk of a model that can't plan, tokens.
const MAX_SMALL_TALK: u32 = 160;
/// Longest summary of older messages, tokens.
const MAX_SUMMARY: u32 = 600;
/// Longest list of search strings, tokens.
const MAX_SEARCH_STRINGS: u32 = 300;
/// Prompts up to this many tokens say tools in few words.
const SMALL_PROMPT: u32 = 4096;

pub(crate) struct BuiltRequest {
    pub request: ModelRequest,
    pub prompt: Prompt,
    /// How tools are explained in the prompt; empty where the provider has a field for them.
    pub tool_text: String,
    pub beside: u64,
    pub reserve: u32,
}

impl BuiltRequest {
    pub fn reserved(&self) -> u64 {
        self.prompt.tokens + u64::from(self.request.max_tokens.unwrap_or(self.reserve))
    }
}

/// Tools that plans are made of: those on offer and those found since.
pub(crate) fn plan_tools(state: &RunState) -> Vec<ToolSpec> {
    let mut tools = state.offered();
    tools.retain(|spec| spec.name != TOOL_SEARCH && spec.name != PLAN);
    tools.extend(state.found());
    tools
}

pub(crate) fn strategy(state: &RunState, setup: &Setup, capabilities: &Capabilities, purpose: Purpose) -> Strategy {
    if purpose == Purpose::Reply && setup.capabilities.plans {
        state.fallback.strategy.unwrap_or(capabilities.strategy)
    } else {
        Strategy::Native
    }
}

/// Reads the reply to model call `step`, which was asked for in the form of `strategy`.
pub(crate) fn reply_parser(
    setup: &Setup,
    purpose: Purpose,
    (strategy, in_thought): (Strategy, bool),
    step: u32,
) -> StreamParser {
    let prefix = format!("s{step}-");
    let mut tools = setup.tools.to_vec();
    tools.push(tool_search());
    tools.extend(plan_tool(setup));
    let can_act = setup.tools.iter().any(|spec| !is_control(&spec.name));
    let acts = purpose == Purpose::Reply && setup.capabilities.plans && can_act;
    let reading = if acts && setup.capabilities.trusted {
        Reading { dialects: Dialects::Opening, ..Reading::strict(strategy) }
    } else if acts {
        Reading::any(strategy)
    } else {
        // No call is wanted; only what is no text for the reader is taken out.
        Reading { dialects: Dialects::Wrappers, ..Reading::strict(Form::Native) }
    };
    let reading = Reading { in_thought, ..reading };
    StreamParser::with(reading, &ToolIndex::new(&tools), &prefix)
}

pub(crate) fn build_request(
    state: &RunState,
    setup: &Setup,
    capabilities: &Capabilities,
    purpose: Purpose,
    max_plan_steps: usize,
) -> BuiltRequest {
    let strategy = strategy(state, setup, capabilities, purpose);
    let native = purpose == Purpose::Reply && strategy == Strategy::Native && setup.capabilities.plans;
    let (explained, callable) = explained_and_callable(state, capabilities, purpose);
    let tool_text = match (purpose, strategy) {
        (Purpose::Reply, Strategy::GuidedJson) => guided::instructions(&explained),
        (Purpose::Reply, Strategy::React) => react::instructions(&explained),
        (Purpose::Reply, Strategy::Markers) => markers_instructions(&explained),
        (Purpose::Plan, _) => plan_instructions(&callable, max_plan_steps),
        (Purpose::Deep, _) => setup.deep.map(|settings| deep_instructions(&callable, settings)).unwrap_or_default(),
        _ => String::new(),
    };
    let schema = match (purpose, strategy) {
        (Purpose::Reply, Strategy::GuidedJson) => Some(guided::schema(&callable)),
        (Purpose::Search, _) => Some(search_strings::schema()),
        (Purpose::Plan, _) => Some(plan::json_schema(&callable, max_plan_steps)),
        (Purpose::Deep, _) => setup.deep.map(|settings| deep_schema(&callable, settings)),
        (Purpose::Fill, _) => schema_of_open(state),
        _ => None,
    };
    let window = capabilities.window;
    let reserve = setup.agent.tuning.max_tokens.min((window / 4).max(MIN_RESERVE));
    let beside = if native { weigh_tools(&callable) } else { 0 };
    let prompt = if purpose == Purpose::Compact {
        let text = older_messages(state, setup).map_or_else(String::new, |(_, text)| text);
        short_prompt(state, COMPACT_PROMPT, text, window, reserve)
    } else if purpose == Purpose::Search {
        short_prompt(state, SEARCH_PROMPT, search_strings::question(&setup.input, &setup.history), window, reserve)
    } else {
        let closing = closing_instructions(state, purpose);
        let notes = notes(state, setup, purpose, native);
        let skills = skills_text(&setup.skills, room_for_tools(capabilities));
        let references = references(state, setup, purpose, capabilities);
        let (begun, room) = begun_with(setup, capabilities);
        assemble(&PromptInput {
            instructions: &setup.agent.instructions,
            skills: &skills,
            tool_text: &tool_text,
            memory: &setup.memory,
            own_sections: &begun.text(room),
            own_changes: &setup.own_sections.changed(begun, room),
            references: &references,
            notes: &notes,
            now: state.fallback.begun_at,
            history: &setup.history,
            messages: &state.messages_for(purpose),
            closing: &closing,
            beside,
            window,
            reserve,
            longest: capabilities.prompt_tokens,
            compaction: &state.fallback.compaction,
        })
    };
    let mut messages =
        if native { with_object_arguments(prompt.messages.clone()) } else { with_calls_as_text(&prompt.messages) };
    if !capabilities.system_role {
        messages = without_system(messages);
    }
    let request = ModelRequest {
        messages,
        tools: if native { callable } else { Vec::new() },
        schema: schema.filter(|_| capabilities.json_schema),
        temperature: Some(setup.agent.tuning.temperature),
        max_tokens: Some(reply_limit(setup, purpose, reserve)),
        stop: stop_sequences(strategy, purpose),
        seed: None,
        timeout_ms: setup.agent.tuning.timeout_ms,
        options: RequestOptions::default(),
    };
    BuiltRequest { request, prompt, tool_text, beside, reserve }
}

/// What of the agent's own the prompts of this conversation begin with, and the tokens that it may take. What has
/// changed since is repeated before the request, unless the window is too small for both.
fn begun_with<'s>(setup: &'s Setup, capabilities: &Capabilities) -> (&'s OwnSections, u64) {
    let room = room_for_tools(capabilities);
    let begun = setup.own_sections.begun_with(&setup.carried.own_sections);
    if setup.own_sections.changed_tokens(begun) > room / 2 { (&setup.own_sections, room) } else { (begun, room) }
}

/// The passages that the run was given, as far as a quarter of the window goes. A model that can't sum up makes nothing of
/// them: there, the answer quotes them.
pub(crate) fn references(state: &RunState, setup: &Setup, purpose: Purpose, capabilities: &Capabilities) -> String {
    if !setup.model_for(purpose).capabilities.plans {
        return String::new();
    }
    let window = capabilities.window.min(capabilities.prompt_tokens.unwrap_or(u32::MAX));
    let mut text = String::new();
    let given = given_documents(&setup.documents, &setup.history);
    if !given.is_empty() {
        let names: Vec<&str> = given.iter().map(|one| one.name.as_str()).collect();
        let _ = writeln!(text, "[Documents that the user gave: {}]", names.join(", "));
    }
    let found = state.plan_search.iter().flat_map(|found| &found.references);
    let all: Vec<Reference> = setup.references.iter().chain(found).cloned().collect();
    text.push_str(&references_text(&all, u64::from(window / 4)));
    let looked = [Some(&setup.looked_through), state.plan_search.as_ref().map(|found| &found.looked_through)];
    for looked in looked.into_iter().flatten().filter(|looked| looked.kept_back > 0) {
        let _ = writeln!(
            text,
            "[{} passages of documents are kept from this model by the policy `{}`; say so if they are needed]",
            looked.kept_back, looked.policy
        );
    }
    text
}

/// What the newest request must say of tools, since the prompt's beginning stays the same in a conversation.
fn notes(state: &RunState, setup: &Setup, purpose: Purpose, native: bool) -> String {
    if purpose != Purpose::Reply || !setup.capabilities.plans {
        return String::new();
    }
    let mut text = String::new();
    if let Some(hint) = setup.hint.as_ref().filter(|hint| !hint.tools.is_empty()) {
        let _ = writeln!(text, "[Tools to look at first: {}]", hint.tools.join(", "));
    }
    let fresh = state.fresh_tools();
    if !native && !fresh.is_empty() {
        let _ = writeln!(text, "{}", list_tools(fresh.iter()));
    }
    text
}

/// More tools can be called than are explained: those that a search found stand in its result.
fn explained_and_callable(
    state: &RunState,
    capabilities: &Capabilities,
    purpose: Purpose,
) -> (Vec<ToolSpec>, Vec<ToolSpec>) {
    let tiny = capabilities.window.min(capabilities.prompt_tokens.unwrap_or(u32::MAX)) <= SMALL_PROMPT;
    let worded = |tools: Vec<ToolSpec>| {
        if tiny { tools.into_iter().map(brief).collect() } else { tools }
    };
    if purpose != Purpose::Reply {
        let tools = worded(plan_tools(state));
        return (tools.clone(), tools);
    }
    let explained = worded(state.offered());
    let mut callable = explained.clone();
    callable.extend(worded(state.found()));
    (explained, callable)
}

/// A model that can't plan rambles; what it has to say in small talk is short.
fn reply_limit(setup: &Setup, purpose: Purpose, reserve: u32) -> u32 {
    if purpose == Purpose::Compact {
        reserve.min(MAX_SUMMARY)
    } else if purpose == Purpose::Search {
        reserve.min(MAX_SEARCH_STRINGS)
    } else if setup.model_for(purpose).capabilities.plans {
        reserve
    } else {
        reserve.min(MAX_SMALL_TALK)
    }
}

fn stop_sequences(strategy: Strategy, purpose: Purpose) -> Vec<String> {
    match strategy {
        Strategy::React => vec!["\nObservation:".to_owned()],
        // What follows a marker is the program's word, not the model's.
        Strategy::Markers if purpose == Purpose::Reply => {
            vec!["\nObservation:".to_owned(), "\n[RESULT".to_owned()]
        }
        _ => Vec::new(),
    }
}

/// A prompt of its own, without the agent's.
fn short_prompt(state: &RunState, instructions: &str, text: String, window: u32, reserve: u32) -> Prompt {
    assemble(&PromptInput {
        instructions,
        skills: "",
        tool_text: "",
        memory: "",
        own_sections: "",
        own_changes: "",
        references: "",
        notes: "",
        now: state.fallback.begun_at,
        history: &[],
        messages: &[Message::user(text)],
        closing: "",
        beside: 0,
        window,
        reserve,
        longest: None,
        compaction: &steward_core::prompt::Compaction::default(),
    })
}
