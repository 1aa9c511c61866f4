//! `previous_response_id`: what was said before.

use crate::openai::OpenAiError;
use crate::state::ApiState;
use steward_app::{Caller, EarlierMessages};
use steward_core::RunId;
use steward_core::message::Message;

const FIELD: &str = "previous_response_id";

/// The messages up to and with the answer of that response, with what of outside entered its run.
pub(super) async fn history(state: &ApiState, caller: &Caller, id: &str) -> Result<Vec<Message>, OpenAiError> {
    let missing = || OpenAiError {
        code: "previous_response_not_found",
        ..OpenAiError::invalid(format!("there is no response `{id}`"), FIELD)
    };
    let run: RunId = id.strip_prefix("resp_").and_then(|id| id.parse().ok()).ok_or_else(missing)?;
    match state.earlier_messages(caller, run).await? {
        EarlierMessages::Said(said) => Ok(said),
        EarlierMessages::Missing => Err(missing()),
        EarlierMessages::Open => Err(OpenAiError::invalid(
            format!("response `{id}` has not ended; wait for it, or answer its approval"),
            FIELD,
        )),
    }
}
