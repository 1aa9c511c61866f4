//! Replay: would this program decide the same today? Pure; the engine checks what needs a prompt or a parser.

use super::effect::{intended_decision, recorded_decision, reports};
use super::state::RunState;
use crate::event::Event;
use serde::{Deserialize, Serialize};

/// Where a replay differs from what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Difference {
    /// The event.
    pub seq: u64,
    /// What was decided then, for a person.
    pub recorded: String,
    /// What this program would decide.
    pub now: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// The event is no decision of the program: it came from outside.
    NoDecision,
    Same,
    Differs(Difference),
}

/// Whether the run of `state`, just before `event`, wants what `event` says was decided.
pub fn check(state: &RunState, event: &Event) -> Checked {
    if state.is_inherited(event.seq) {
        return Checked::NoDecision;
    }
    let Some(recorded) = recorded_decision(state, &event.body) else {
        return Checked::NoDecision;
    };
    // The decision was taken between the event before and this one; only the ends of grants care.
    for now in [event.at, state.last_at] {
        let wanted = state.next(now);
        if wanted.first().is_some_and(|effect| reports(state, effect, &event.body)) {
            return Checked::Same;
        }
    }
    let now = state
        .next(event.at)
        .first()
        .map_or_else(|| "nothing: the run waits".to_owned(), |effect| intended_decision(state, effect));
    Checked::Differs(Difference { seq: event.seq, recorded, now })
}
