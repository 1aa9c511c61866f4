//! SCIM 2.0 (RFC 7643, RFC 7644): a provider keeps users and groups here. Whoever comes is a token that opens nothing
//! else, so that there are no roles to look at: having one is the authorization. Tokens and settings are administrators'.

mod attributes;
mod discovery;
mod error;
mod filter;
mod groups;
mod patch;
mod path;
mod query;
mod resource;
mod users;

pub use error::ScimError;
pub use query::ScimQuery;

use crate::app::{Action, App, AppResult, Caller, Resource, authorize};
use crate::dto::identity::{NewScimToken, ScimTokenInput};
use std::net::IpAddr;
use steward_core::ports::{LoginError, ScimToken};
use steward_core::scim::ScimSettings;
use uuid::Uuid;

/// A provider that has shown its token.
#[derive(Debug, Clone)]
pub struct ScimCaller {
    pub token: ScimToken,
    pub address: Option<IpAddr>,
    /// The address that it came by, such as `https://steward.example.org/scim/v2`.
    pub base: String,
}

impl ScimCaller {
    /// How it is named in the audit trail.
    pub fn by(&self) -> String {
        format!("scim:{}", self.token.name)
    }
}

impl App {
    pub async fn scim_caller(
        &self,
        bearer: &str,
        address: Option<IpAddr>,
        base: String,
    ) -> Result<ScimCaller, LoginError> {
        Ok(ScimCaller { token: self.access.scim_token(bearer).await?, address, base })
    }

    pub async fn scim_settings(&self, caller: &Caller) -> AppResult<ScimSettings> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.scim_settings().await?)
    }

    /// In force at once, also for those who came before.
    pub async fn set_scim_settings(&self, caller: &Caller, wanted: ScimSettings) -> AppResult<ScimSettings> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        self.access.set_scim_settings(&wanted).await?;
        tracing::info!(by = caller.by(), "the settings of SCIM were changed");
        Ok(wanted)
    }

    /// By name.
    pub async fn scim_tokens(&self, caller: &Caller) -> AppResult<Vec<ScimToken>> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.scim_tokens().await?)
    }

    /// The secret is not kept anywhere.
    pub async fn create_scim_token(&self, caller: &Caller, input: ScimTokenInput) -> AppResult<NewScimToken> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        let (token, secret) = self.access.make_scim_token(&input.name, &caller.by()).await?;
        tracing::info!(by = caller.by(), token = token.name, "a token for SCIM was made");
        Ok(NewScimToken { token, secret: Some(secret) })
    }

    /// For good; in force at the next request.
    pub async fn remove_scim_token(&self, caller: &Caller, id: Uuid) -> AppResult<()> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        self.access.remove_scim_token(id).await?;
        tracing::info!(by = caller.by(), token = %id, "a token for SCIM was revoked");
        Ok(())
    }
}
