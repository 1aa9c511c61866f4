//! Permissions that outlive their run.

use crate::app::{Action, App, AppError, Caller, Resource, authorize};
use crate::dto::approval::StandingGrant;
use steward_core::AgentId;
use uuid::Uuid;

impl App {
    /// Those in force, newest first.
    pub async fn grants(&self, caller: &Caller, agent: Option<AgentId>) -> Result<Vec<StandingGrant>, AppError> {
        authorize(caller, Action::Read, Resource::Grants)?;
        let grants = self.store().grants(self.tenant(), agent, self.now()).await?;
        let names = self.agent_names(grants.iter().map(|grant| grant.agent).collect()).await?;
        Ok(grants
            .into_iter()
            .map(|grant| {
                let name = names.get(grant.agent);
                StandingGrant::named(grant, name)
            })
            .collect())
    }

    /// It no longer holds for what has not run yet.
    pub async fn revoke_grant(&self, caller: &Caller, id: Uuid) -> Result<(), AppError> {
        authorize(caller, Action::Write, Resource::Grants)?;
        Ok(self.store().revoke_grant(self.tenant(), id).await?)
    }
}
