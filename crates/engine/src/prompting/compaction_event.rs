//! Older messages, cut or summed up, so that a prompt fits the window.

use steward_core::event::{EventBody, Setup};
use steward_core::prompt::{Compaction, CompactionInput, Older};
use steward_core::run::RunState;

/// What follows from the state: a summary by the model if it gave one, else by the program.
pub(crate) fn compacted(state: &RunState, setup: &Setup) -> EventBody {
    let conversation = conversation(state, setup);
    let Some(older) = conversation.older() else {
        return EventBody::ContextCompacted {
            compaction: state.fallback.compaction.clone(),
            by: String::new(),
            replaced: 0,
        };
    };
    let written = state.summary_reply().map(str::trim);
    let (summary, by) = match written.filter(|text| !text.is_empty()) {
        Some(text) => (text.to_owned(), "model"),
        None => (conversation.composed(&older), "program"),
    };
    EventBody::ContextCompacted {
        replaced: older.history.len() + older.run.len(),
        compaction: Compaction { summary, ..older.next },
        by: by.to_owned(),
    }
}

pub(crate) fn older_messages(state: &RunState, setup: &Setup) -> Option<(Older, String)> {
    let conversation = conversation(state, setup);
    let older = conversation.older()?;
    let text = conversation.transcript(&older);
    Some((older, text))
}

/// The conversation by the run's own model: a fallback's smaller window changes nothing in the log.
pub(crate) fn conversation<'a>(state: &'a RunState, setup: &'a Setup) -> CompactionInput<'a> {
    let capabilities = &setup.capabilities;
    let reserve = setup.agent.tuning.max_tokens.min(capabilities.window / 4);
    let room = capabilities.window.saturating_sub(reserve);
    let room = room.min(capabilities.prompt_tokens.unwrap_or(room));
    CompactionInput {
        history: &setup.history,
        messages: &state.messages,
        now: &state.fallback.compaction,
        usable: u64::from(room).max(1),
    }
}

/// What a replay makes of a recorded compaction: the same, or what it would be now.
pub(crate) fn replayed_compaction(
    state: &RunState,
    setup: &Setup,
    recorded: &Compaction,
    by: &str,
) -> Option<Compaction> {
    let now = if by.is_empty() {
        let pressing = conversation(state, setup).cut(true);
        pressing.unwrap_or_else(|| state.fallback.compaction.clone())
    } else {
        match compacted(state, setup) {
            EventBody::ContextCompacted { compaction, .. } => compaction,
            _ => return None,
        }
    };
    (now != *recorded).then_some(now)
}
