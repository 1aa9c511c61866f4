//! Whether the text of a reply may turn out to be reasoning that the prompt has opened. Where nobody has said how the replies
//! of a connection begin, its first whole reply tells.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};
use steward_core::ConnectionId;
use steward_core::locks::lock;
use steward_core::model::{Connection, Provider};
use steward_parse::{Out, Parsed};

/// Connections that are remembered; then it is begun anew.
const MAX_KNOWN: usize = 10_000;
/// A capability that a person may have set.
const THINKS_FIRST: &str = "thinks_first";

type Answering = (ConnectionId, String);

static PLAIN: LazyLock<Mutex<HashSet<Answering>>> = LazyLock::new(Mutex::default);

/// What is known of how the replies of a connection begin.
pub(super) struct ReplyBeginning {
    answering: Answering,
    known: bool,
    taken_back: bool,
}

impl ReplyBeginning {
    /// `examined`: an exam has seen how they begin.
    pub fn of(connection: &Connection, examined: bool, in_thought: bool) -> Self {
        let answering = (connection.id, connection.model.clone());
        let said = examined || in_thought || connection.by_hand.iter().any(|field| field == THINKS_FIRST);
        let known = said || has_field_for_reasoning(connection) || lock(&PLAIN).contains(&answering);
        Self { answering, known, taken_back: false }
    }

    /// Whether a text may be taken back that the parser takes for one so far.
    pub fn is_provisional(&self, may_be_thought: bool) -> bool {
        may_be_thought && !self.known
    }

    pub fn see(&mut self, outs: &[Out]) {
        self.taken_back |= outs.contains(&Out::Retracted);
    }

    /// A whole reply tells of those to come. One that was cut may be a thought whose end is missing.
    pub fn learn(self, reply: &Parsed, finish: &str) {
        let said = !reply.text.trim().is_empty() || !reply.reasoning.trim().is_empty();
        if self.known || self.taken_back || !said || matches!(finish, "length" | "max_tokens") {
            return;
        }
        let mut plain = lock(&PLAIN);
        if plain.len() >= MAX_KNOWN {
            plain.clear();
        }
        plain.insert(self.answering);
    }
}

/// Whether reasoning never stands in the text: providers that tell it apart, and interfaces of their own.
fn has_field_for_reasoning(connection: &Connection) -> bool {
    matches!(connection.provider, Provider::OpenAi | Provider::AzureOpenAi) || !connection.speaks_openai_dialect()
}
