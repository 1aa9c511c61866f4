//! A change of an agent that loses nothing of another one at the same time.

use super::check::check;
use super::one::live;
use crate::dto::agent::AgentInput;
use crate::problem::Problem;
use crate::state::ApiState;
use steward_core::AgentId;
use steward_core::agent::Agent;

/// Tries before it is given up; each that fails means that somebody else's change was written.
const TRIES: u32 = 50;

/// Replaces an agent by what `input` makes of it as it is. Where it was changed in between, such as by a skill that was
/// attached, `input` is asked again.
pub(super) async fn change(
    state: &ApiState,
    id: AgentId,
    input: impl Fn(&Agent) -> Result<AgentInput, Problem>,
) -> Result<Agent, Problem> {
    let deps = state.runs.deps();
    for _ in 0..TRIES {
        let before = live(state, id).await?;
        let wanted = input(&before)?;
        check(state, &wanted).await?;
        let after = wanted.with_id(id, Some(&before));
        let store = &deps.store;
        if store.change_agent(deps.tenant, &before, &after).await? {
            return Ok(after);
        }
    }
    Err(Problem::conflict("agent_busy", "the agent is changed by others all the time", "try again in a moment"))
}
