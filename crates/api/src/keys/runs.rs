//! Tokens of runs that were asked for with a key.

use crate::state::ApiState;
use futures::StreamExt;
use steward_core::RunId;
use steward_core::event::EventBody;
use steward_core::ports::Principal;

/// Counts what a run takes towards the key's tokens a minute, if it has such a limit.
pub(crate) fn count_tokens(state: &ApiState, principal: &Principal, run: RunId) {
    let limited = principal.key.as_ref().filter(|key| key.tokens_per_minute.is_some());
    let Some(key) = limited.map(|key| key.id) else {
        return;
    };
    let state = state.clone();
    tokio::spawn(async move {
        let mut events = state.runs.watch(run, 0);
        while let Some(Ok(event)) = events.next().await {
            match event.body {
                EventBody::ModelResponded { usage, .. } => {
                    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
                    state.ledger.limiter().took(key, tokens, event.at);
                }
                // One that waits for a person may do so for days.
                EventBody::RunFinished { .. } | EventBody::ApprovalRequested { .. } => return,
                _ => {}
            }
        }
    });
}
