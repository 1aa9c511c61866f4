use crate::app::{Action, App, AppError, Caller, Resource, authorize};
use crate::skills::of;
use steward_core::agent::Agent;
use steward_core::ports::Skills as _;

impl App {
    /// Somebody who may change an agent only by a grant gives it nothing that they may not use themselves, and leaves
    /// alone what it may do and spend unasked.
    pub(super) async fn may_change_agent(
        &self,
        caller: &Caller,
        before: &Agent,
        after: &Agent,
    ) -> Result<(), AppError> {
        if authorize(caller, Action::Write, Resource::Agents).is_ok() {
            return Ok(());
        }
        let kept = [
            ("policy", before.policy == after.policy),
            ("budget", before.budget == after.budget),
            ("routing", before.routing == after.routing),
            ("credentials", before.credentials == after.credentials),
        ];
        if let Some((field, _)) = kept.into_iter().find(|(_, same)| !same) {
            return Err(AppError::forbidden(
                format!("the `{field}` of an agent is an operator's to change"),
                format!("leave `{field}` as it is, or let an operator change it"),
            )
            .code("operator_only")
            .field(field));
        }
        if let Some(connection) = after.connection.filter(|_| before.connection != after.connection) {
            self.may_ask_connection(caller, connection).await?;
        }
        for id in after.skills.iter().filter(|id| !before.skills.contains(id)) {
            let skill = self.store.skill(self.tenant(), *id).await?;
            authorize(caller, Action::Read, of(&skill))?;
        }
        Ok(())
    }
}
