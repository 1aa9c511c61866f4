//! What a person may reach. What they may not see is not there: 404, never 403.

use crate::auth::Person;
use crate::problem::Problem;
use crate::state::ApiState;
use steward_core::ports::{Conversation, Role, RunRow};
use steward_core::{ConversationId, RunId};

/// A run that `person` may see.
pub(crate) async fn run(state: &ApiState, person: &Person, id: RunId) -> Result<RunRow, Problem> {
    let deps = state.runs.deps();
    let row = deps.store.run(deps.tenant, id).await?;
    person.may_see(row.user, format!("run {id}"))?;
    Ok(row)
}

/// A run that `person` may change.
pub(crate) async fn own_run(state: &ApiState, person: &Person, id: RunId) -> Result<RunRow, Problem> {
    person.may(Role::Developer)?;
    run(state, person, id).await
}

/// A conversation of `person`, or for operators one of nobody (the command line's); deleted or not.
pub(crate) async fn conversation(
    state: &ApiState,
    person: &Person,
    id: ConversationId,
) -> Result<Conversation, Problem> {
    let deps = state.runs.deps();
    let row = deps.store.conversation(deps.tenant, id).await?;
    let theirs = match row.user {
        Some(owner) => owner == person.user(),
        None => person.sees_all(),
    };
    if theirs { Ok(row) } else { Err(Problem::not_found(format!("conversation {id}"))) }
}
