use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::authorize::readable_page;
use crate::dto::credentials::CredentialUse;
use steward_core::credential::{self, Credential};
use steward_core::ports::{CredentialChange, NewCredential};
use steward_core::{CredentialId, Timestamp, ports};

impl App {
    /// By name, without their secrets.
    pub async fn credentials(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: u32,
    ) -> AppResult<ports::Page<Credential>> {
        authorize(caller, Action::Read, Resource::Credentials)?;
        readable_page(
            caller,
            after,
            limit,
            of,
            |credential| credential.name.as_str(),
            |after| async move {
                self.vault.credentials(self.tenant(), after.as_deref(), limit).await.map_err(AppError::from)
            },
        )
        .await
    }

    pub async fn credential(&self, caller: &Caller, id: CredentialId) -> AppResult<Credential> {
        authorize(caller, Action::Read, Resource::Credentials)?;
        let credential = self.vault.credential(self.tenant(), id).await?;
        authorize(caller, Action::Read, of(&credential))?;
        Ok(credential)
    }

    /// Keeps a credential. Its secret fields are sealed and never shown again.
    pub async fn create_credential(&self, caller: &Caller, mut new: NewCredential) -> AppResult<Credential> {
        authorize(caller, Action::Write, Resource::Credentials)?;
        new.name = new.name.trim().to_owned();
        Ok(self.vault.keep(self.tenant(), new).await?)
    }

    /// In force at the next call.
    pub async fn change_credential(
        &self,
        caller: &Caller,
        id: CredentialId,
        mut change: CredentialChange,
    ) -> AppResult<Credential> {
        authorize(caller, Action::Write, Resource::Credentials)?;
        change.name = change.name.map(|name| name.trim().to_owned());
        Ok(self.vault.change(self.tenant(), id, change).await?)
    }

    /// For good. Skills that use it are refused from then on.
    pub async fn remove_credential(&self, caller: &Caller, id: CredentialId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Credentials)?;
        Ok(self.vault.remove(self.tenant(), id).await?)
    }

    /// Seals all credentials with a new key, and returns how many. The old key opens nothing after that.
    pub async fn rotate_vault_key(&self, caller: &Caller) -> AppResult<u64> {
        authorize(caller, Action::Administer, Resource::Credentials)?;
        Ok(self.vault.rotate(self.tenant()).await?)
    }

    /// Which runs used a credential before `before`, the latest first.
    pub async fn credential_uses(
        &self,
        caller: &Caller,
        id: CredentialId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> AppResult<ports::Page<CredentialUse>> {
        authorize(caller, Action::Read, Resource::CredentialUses)?;
        let tenant = self.tenant();
        self.vault.credential(tenant, id).await?;
        let page = self.vault.uses(tenant, id, before, limit).await?;
        let names = self.agent_names(page.items.iter().filter_map(|one| one.agent).collect()).await?;
        let shown = |one: credential::CredentialUse| {
            let credential::CredentialUse { run, agent, tool, at, .. } = one;
            CredentialUse { run, agent, agent_name: agent.and_then(|id| names.get(id)), tool, at }
        };
        Ok(ports::Page { items: page.items.into_iter().map(shown).collect(), more: page.more })
    }
}

fn of(credential: &Credential) -> Resource<'_> {
    Resource::Credential { id: credential.id, name: &credential.name }
}
