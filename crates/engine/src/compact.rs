//! Room in the window before a model is asked: cut results, then a summary.

use crate::dialect::{self, Built};
use crate::model_call::ask_once;
use crate::runner::Runner;
use steward_core::event::{EventBody, Setup};
use steward_core::model::Purpose;
use steward_core::ports::StoreResult;
use steward_core::prompt::{COMPACT_FROM, Compaction, Older, Said, TRUNCATE_FROM};
use steward_core::run::RunState;

/// Cuts and summaries before one model call, at most.
const MOST: usize = 4;

/// What a prompt still needs.
enum Need {
    Nothing(Box<Built>),
    Cut(Compaction),
    Summary,
}

/// What came of making room.
pub(crate) enum Room {
    /// The request, as small as it gets.
    Made(Box<Built>),
    /// The run ended or waits instead.
    Otherwise,
}

/// Makes room for the prompt of `purpose`.
pub(crate) async fn make_room(runner: &mut Runner<'_>, setup: &Setup, purpose: Purpose) -> StoreResult<Room> {
    let max_steps = runner.deps.config.max_plan_steps;
    for _ in 0..MOST {
        match need(&runner.journal.state, setup, purpose, max_steps) {
            Need::Nothing(built) => return Ok(Room::Made(built)),
            Need::Cut(compaction) => {
                let cut = EventBody::ContextCompacted { compaction, by: String::new(), replaced: 0 };
                runner.journal.append(cut).await?;
            }
            Need::Summary => {
                if !sum_up(runner, setup).await? {
                    return Ok(Room::Otherwise);
                }
            }
        }
    }
    let state = &runner.journal.state;
    Ok(Room::Made(Box::new(dialect::request(state, setup, &setup.capabilities, purpose, max_steps))))
}

fn need(state: &RunState, setup: &Setup, purpose: Purpose, max_steps: usize) -> Need {
    // A summary that is paid for is put to use first.
    if state.summary_reply().is_some() {
        return Need::Summary;
    }
    let built = dialect::request(state, setup, &setup.capabilities, purpose, max_steps);
    if !built.prompt.is_over(TRUNCATE_FROM, built.beside) {
        return Need::Nothing(Box::new(built));
    }
    let full = built.prompt.is_over(COMPACT_FROM, built.beside);
    let said = said(state, setup);
    if let Some(compaction) = said.cut(full) {
        return Need::Cut(compaction);
    }
    if full && said.older().is_some() {
        return Need::Summary;
    }
    Need::Nothing(Box::new(built))
}

/// The model sums up, where it can; else the beginnings of the messages must do.
async fn sum_up(runner: &mut Runner<'_>, setup: &Setup) -> StoreResult<bool> {
    let pending = runner.journal.state.summary_reply().is_some();
    if !pending && setup.capabilities.summarises {
        let max_steps = runner.deps.config.max_plan_steps;
        let built = dialect::request(&runner.journal.state, setup, &setup.capabilities, Purpose::Compact, max_steps);
        let _ = ask_once(runner, setup, Purpose::Compact, built).await?;
        let state = &runner.journal.state;
        if state.is_finished()
            || state.stop_by.is_some()
            || state.waiting.is_some()
            || runner.handle.cancel.is_cancelled()
        {
            return Ok(false);
        }
    }
    let body = compacted(&runner.journal.state, setup);
    runner.journal.append(body).await?;
    Ok(true)
}

/// What follows from the state: a summary by the model if it gave one, else by the program.
pub(crate) fn compacted(state: &RunState, setup: &Setup) -> EventBody {
    let said = said(state, setup);
    let Some(older) = said.older() else {
        return EventBody::ContextCompacted {
            compaction: state.cascade.compaction.clone(),
            by: String::new(),
            replaced: 0,
        };
    };
    let written = state.summary_reply().map(str::trim);
    let (summary, by) = match written.filter(|text| !text.is_empty()) {
        Some(text) => (text.to_owned(), "model"),
        None => (said.composed(&older), "program"),
    };
    EventBody::ContextCompacted {
        replaced: older.history.len() + older.run.len(),
        compaction: Compaction { summary, ..older.next },
        by: by.to_owned(),
    }
}

/// The messages that would be summed up next, and their text.
pub(crate) fn older(state: &RunState, setup: &Setup) -> Option<(Older, String)> {
    let said = said(state, setup);
    let older = said.older()?;
    let text = said.transcript(&older);
    Some((older, text))
}

/// The conversation by the run's own model: a fallback's smaller window changes nothing in the log.
fn said<'a>(state: &'a RunState, setup: &'a Setup) -> Said<'a> {
    let capabilities = &setup.capabilities;
    let reserve = setup.agent.tuning.max_tokens.min(capabilities.window / 4);
    let room = capabilities.window.saturating_sub(reserve);
    let room = room.min(capabilities.prompt_tokens.unwrap_or(room));
    Said {
        history: &setup.history,
        messages: &state.messages,
        now: &state.cascade.compaction,
        usable: u64::from(room).max(1),
    }
}

/// What a replay makes of a recorded compaction: the same, or what it would be now.
pub(crate) fn again(state: &RunState, setup: &Setup, recorded: &Compaction, by: &str) -> Option<Compaction> {
    let now = if by.is_empty() {
        let pressing = said(state, setup).cut(true);
        pressing.unwrap_or_else(|| state.cascade.compaction.clone())
    } else {
        match compacted(state, setup) {
            EventBody::ContextCompacted { compaction, .. } => compaction,
            _ => return None,
        }
    };
    (now != *recorded).then_some(now)
}
