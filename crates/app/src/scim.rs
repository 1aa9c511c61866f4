//! SCIM 2.0 (RFC 7643, RFC 7644): a provider keeps users and groups here. Whoever comes is a token that opens nothing
//! else, so that there are no roles to look at: having one is the authorization.

mod attributes;
mod discovery;
mod error;
mod filter;
mod groups;
mod patch;
mod path;
mod query;
mod resource;
mod settings;
mod users;

pub use error::ScimError;
pub use query::ScimQuery;

use std::net::IpAddr;
use steward_core::ports::{LoginError, ScimToken};

use crate::app::App;

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
}
