//! What administrators set for SCIM, and the tokens that providers come with.

use crate::app::{Action, App, AppError, Caller, Resource, authorize};
use crate::dto::identity::{NewScimToken, ScimTokenInput};
use steward_core::ports::ScimToken;
use steward_core::scim::ScimSettings;
use uuid::Uuid;

impl App {
    pub async fn scim_settings(&self, caller: &Caller) -> Result<ScimSettings, AppError> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.scim_settings().await?)
    }

    /// In force at once, also for those who came before.
    pub async fn set_scim_settings(&self, caller: &Caller, wanted: ScimSettings) -> Result<ScimSettings, AppError> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        self.access.set_scim_settings(&wanted).await?;
        tracing::info!(by = caller.by(), "the settings of SCIM were changed");
        Ok(wanted)
    }

    /// By name.
    pub async fn scim_tokens(&self, caller: &Caller) -> Result<Vec<ScimToken>, AppError> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.scim_tokens().await?)
    }

    /// The secret is not kept anywhere.
    pub async fn create_scim_token(&self, caller: &Caller, input: ScimTokenInput) -> Result<NewScimToken, AppError> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        let (token, secret) = self.access.make_scim_token(&input.name, &caller.by()).await?;
        tracing::info!(by = caller.by(), token = token.name, "a token for SCIM was made");
        Ok(NewScimToken { token, secret: Some(secret) })
    }

    /// For good; in force at the next request.
    pub async fn remove_scim_token(&self, caller: &Caller, id: Uuid) -> Result<(), AppError> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        self.access.remove_scim_token(id).await?;
        tracing::info!(by = caller.by(), token = %id, "a token for SCIM was revoked");
        Ok(())
    }
}
