use crate::agent_lookup::of;
use crate::app::{Action, Caller, authorize};
use async_trait::async_trait;
use std::sync::Arc;
use steward_core::event::Origin;
use steward_core::ports::{
    AgentEditors, Agents as _, Principal, ResourceGrants as _, StoreError, StoreResult, Users as _,
};
use steward_core::{AgentId, TenantId, UserId};
use steward_store::Store;

/// Who may edit agents, as it is stored now. A user counts with all of their rights, however their run was begun.
pub struct StoredEditors(pub Arc<Store>);

#[async_trait]
impl AgentEditors for StoredEditors {
    async fn may_edit(&self, tenant: TenantId, agent: AgentId, user: UserId) -> StoreResult<bool> {
        let known = self.0.user(tenant, user).await?.filter(|user| !user.is_disabled());
        let agent = match self.0.agent(tenant, agent).await {
            Ok(agent) => agent,
            Err(StoreError::NotFound(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(user) = known else { return Ok(false) };
        let caller = Caller {
            permissions: Arc::new(self.0.permissions(tenant, user.id).await?),
            principal: Principal { tenant, user: user.id, name: user.name, role: user.role, key: None },
            email: user.email,
            session: None,
            origin: Origin::Api,
            address: None,
        };
        Ok(authorize(&caller, Action::Write, of(&agent)).is_ok())
    }
}
