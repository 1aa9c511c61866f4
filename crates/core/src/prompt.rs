//! Prompt assembly: pure, budgeted, its prefix byte-identical within a conversation for provider and llama.cpp caches.

mod compact;
mod own_data;
mod preview;
mod sections;
mod tools;

use crate::Timestamp;
use crate::message::{Message, Role};
use serde::{Deserialize, Serialize};

pub use compact::{Compaction, CompactionInput, Older};
pub use own_data::OwnSections;
pub use preview::{PromptMessage, PromptPreview, PromptSection};
pub use sections::{references_text, skills_text};
pub use tools::{brief, weigh_tools};

/// Share of the window from which old tool results are cut.
pub const TRUNCATE_FROM: f64 = 0.60;
/// Share of the window from which old messages are summarised or left out.
pub const COMPACT_FROM: f64 = 0.80;
/// What remains of an old tool result, in characters.
const OLD_RESULT: usize = 400;
/// Number of newest results that are never cut.
const KEEP_RESULTS: usize = 2;

/// What the prompts of a conversation begin with, kept from run to run, so that caches hit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Carried {
    /// Tools that are explained, in this order; empty where all are. Others are found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<String>,
    /// How older messages stand in it.
    #[serde(default)]
    pub compaction: Compaction,
    /// What the agent kept for itself when the conversation began.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub own_sections: OwnSections,
}

#[derive(Debug, Clone)]
pub struct PromptInput<'a> {
    pub instructions: &'a str,
    /// What its internal skills add, see [`skills_text`]; empty if it has none.
    pub skills: &'a str,
    /// How to call tools, for the text strategies; empty for native calls.
    pub tool_text: &'a str,
    pub memory: &'a str,
    /// What the agent keeps for itself, see [`OwnSections::text`]; empty if it has no switch for that.
    pub own_sections: &'a str,
    /// What of it has changed since the conversation began, see [`OwnSections::changed`].
    pub own_changes: &'a str,
    /// Passages of documents for this request, see [`references_text`]; empty if there are none.
    pub references: &'a str,
    /// Notes for this request only, placed before it.
    pub notes: &'a str,
    /// Time of the run, for words like "today".
    pub now: Timestamp,
    pub history: &'a [Message],
    /// Messages of this run, the request first.
    pub messages: &'a [Message],
    /// Placed after everything else; for plans and final answers.
    pub closing: &'a str,
    /// Tokens sent outside of the messages, in the provider's tool field.
    pub beside: u64,
    /// The model's window, tokens.
    pub window: u32,
    /// Tokens kept free for the reply.
    pub reserve: u32,
    /// Longest prompt that is worth sending, tokens.
    pub longest: Option<u32>,
    pub compaction: &'a Compaction,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub messages: Vec<Message>,
    /// Estimated size in tokens, including what is sent beside the messages.
    pub tokens: u64,
    pub fits: bool,
    /// Tokens available for its messages.
    pub usable: u64,
}

impl Prompt {
    /// Whether its messages exceed `share` of the usable tokens.
    #[expect(clippy::cast_precision_loss, reason = "shares of a window need no more than two digits")]
    pub fn is_over(&self, share: f64, beside: u64) -> bool {
        self.tokens.saturating_sub(beside) as f64 > self.usable as f64 * share
    }
}

/// A safe estimate of the tokens of `text`: a third of its characters, rounded up.
pub fn estimate_tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(3)
}

pub(crate) fn weight(message: &Message) -> u64 {
    let calls: u64 = message
        .tool_calls
        .iter()
        .map(|call| estimate_tokens(&call.name) + estimate_tokens(&call.arguments.to_string()) + 8)
        .sum();
    estimate_tokens(&message.text) + calls + 6
}

fn total(messages: &[Message]) -> u64 {
    messages.iter().map(weight).sum()
}

/// Assembles the prompt. What changes between requests goes to the newest one, so that the system message is stable.
pub fn assemble(input: &PromptInput<'_>) -> Prompt {
    let room = input.window.saturating_sub(input.reserve);
    let room = room.min(input.longest.unwrap_or(room));
    let usable = u64::from(room).saturating_sub(input.beside).max(1);
    let compaction = input.compaction;
    let mut messages = Vec::with_capacity(input.history.len() + input.messages.len() + 2);
    let system = system_text(input);
    if !system.is_empty() {
        messages.push(Message::system(system));
    }
    let rest = compact::full(input.history, input.messages, compaction);
    let (history, run): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(run, _)| !run);
    messages.extend(history.into_iter().map(|(_, message)| message));
    if let Some(request) = input.messages.first() {
        let mut request = request.clone();
        if request.role == Role::User {
            request.text = format!("{}{}", context(input), request.text);
        }
        messages.push(request);
    }
    messages.extend(run.into_iter().map(|(_, message)| message));
    if !compaction.summary.is_empty()
        && let Some(first) = messages.iter_mut().find(|message| message.role == Role::User)
    {
        first.text = format!(
            "[What was said and done before this, summed up:]\n{}\n[End of the summary]\n\n{}",
            compaction.summary, first.text
        );
    }
    if !input.closing.is_empty() {
        messages.push(Message::user(input.closing));
    }
    let tokens = total(&messages);
    Prompt { fits: tokens <= usable, messages, tokens: tokens + input.beside, usable }
}

fn system_text(input: &PromptInput<'_>) -> String {
    let parts = [input.instructions, input.skills, input.tool_text];
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    let core = parts.collect::<Vec<_>>().join("\n\n");
    // Last, so that what stays the same over conversations comes first.
    match (core.is_empty(), input.own_sections.is_empty()) {
        (_, true) => core,
        (true, false) => input.own_sections.to_owned(),
        (false, false) => format!("{core}\n\n---\n\n{}", input.own_sections),
    }
}

fn context(input: &PromptInput<'_>) -> String {
    let memory = memory_text(input.memory);
    let now = input.now.rfc3339();
    format!("[Now: {now}]\n{memory}{}{}{}\n", input.own_changes, input.references, input.notes)
}

/// Memory as a section of the prompt; empty if there is none.
pub fn memory_text(memory: &str) -> String {
    let memory = memory.trim();
    if memory.is_empty() { String::new() } else { format!("## Your Memory\n{memory}\n") }
}

#[cfg(test)]
mod tests {
    use super::{Compaction, PromptInput, assemble};
    use crate::Timestamp;
    use crate::message::Message;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static NONE: LazyLock<Compaction> = LazyLock::new(Compaction::default);

    fn input<'a>(history: &'a [Message], messages: &'a [Message], window: u32) -> PromptInput<'a> {
        PromptInput {
            instructions: "You help.",
            skills: "",
            tool_text: "Tools: none.",
            memory: "likes tea",
            own_sections: "",
            own_changes: "",
            references: "",
            notes: "",
            now: Timestamp(0),
            history,
            messages,
            closing: "",
            beside: 0,
            window,
            reserve: 100,
            longest: None,
            compaction: &NONE,
        }
    }

    #[test]
    fn the_prefix_is_byte_stable_within_a_conversation() {
        let first = [Message::user("one")];
        let one = assemble(&input(&[], &first, 8000));
        let history = [Message::user("one"), Message::assistant("uno")];
        let second = [Message::user("two")];
        let mut later = input(&history, &second, 8000);
        later.memory = "likes coffee";
        later.now = Timestamp(86_400_000);
        let two = assemble(&later);
        assert_eq!(one.messages[0], two.messages[0]);
        assert_eq!(two.messages[1..3], history);
        assert!(two.messages[3].text.contains("likes coffee"));
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_the_request(lens in prop::collection::vec(0usize..4000, 0..30), window in 0u32..9000) {
            let history: Vec<Message> = lens.iter().map(|n| Message::user("h".repeat(*n))).collect();
            let prompt = assemble(&input(&history, &[Message::user("the request")], window));
            prop_assert!(prompt.messages.iter().any(|m| m.text.ends_with("the request")));
        }
    }
}
