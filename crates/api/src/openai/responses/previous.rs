//! `previous_response_id`: what was said before.

use crate::openai::OpenAiError;
use crate::state::ApiState;
use steward_app::{Action, Caller, Resource, authorize};
use steward_core::RunId;
use steward_core::message::Message;
use steward_core::ports::RunStatus;

const FIELD: &str = "previous_response_id";

/// The messages up to and with the answer of that response, with what of outside entered its run.
pub(super) async fn history(state: &ApiState, caller: &Caller, id: &str) -> Result<Vec<Message>, OpenAiError> {
    let missing = || OpenAiError {
        code: "previous_response_not_found",
        ..OpenAiError::invalid(format!("there is no response `{id}`"), FIELD)
    };
    let run: RunId = id.strip_prefix("resp_").and_then(|id| id.parse().ok()).ok_or_else(missing)?;
    // A key reaches what its user has asked, whatever the user may see.
    let row = state.earlier_run(caller, run).await?.ok_or_else(missing)?;
    if row.status != RunStatus::Finished {
        return Err(OpenAiError::invalid(
            format!("response `{id}` has not ended; wait for it, or answer its approval"),
            FIELD,
        ));
    }
    let ended = state.run_state(run).await?;
    let taint = ended.sources();
    // A key reaches no runs of agents that it does not open.
    let opened = |name: &str| authorize(caller, Action::Read, Resource::Agent { name }).is_ok();
    let Some(setup) = ended.setup.filter(|setup| opened(&setup.agent.name)) else {
        return Err(missing());
    };
    let mut history = setup.history.clone();
    history.push(Message { taint, ..Message::user(&setup.input) });
    if let Some(answer) = row.answer.filter(|answer| !answer.is_empty()) {
        history.push(Message::assistant(answer));
    }
    Ok(history)
}
